/**
 * Measures the time from "accepted" to "visible". Marked events among all the others are sent at fixed times over HTTP. An observer polls
 * the database for the events that it has not seen yet, as followers of the stream do. The clock starts when the whole response has been
 * read and stops when a poll finds the event. So the figure includes the poll interval, and is never less than what a follower would see.
 */

import { Agent, request } from 'node:http';
import { quantile } from '../measure.ts';
import type { Testbed, Project } from '../testbed.ts';

export type Probes = { stop(): Promise<Sample[]> };
export type Sample = { acceptedAt: number; seenAt: number | null; status: number };

export type ProbeOptions = {
  port: number;
  projects: Project[];
  perSecond: number;
};

const POLL_MS = 20;
/** Each user has few events, so that the observer finds an event by its user quickly. */
const PROBE_PEOPLE = 1_000;
const LAST_WITHIN_MS = 20_000;

type PendingProbe = { projectId: number; userId: string; marker: string; sample: Sample };

let series = 0;

export function startProbes({ db }: Testbed, options: ProbeOptions): Probes {
  const samples: Sample[] = [];
  const pending = new Set<PendingProbe>();
  const state = { sending: true, looking: true };
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  series += 1;
  const sending = send({ options, agent, samples, pending, isOn: () => state.sending });
  const looking = look(db, pending, () => state.looking);
  return {
    async stop() {
      state.sending = false;
      await sending;
      const giveUpAt = performance.now() + LAST_WITHIN_MS;
      while (pending.size > 0 && performance.now() < giveUpAt) await pause(POLL_MS);
      state.looking = false;
      await looking;
      agent.destroy();
      return samples;
    },
  };
}

type ProbeRequest = {
  options: ProbeOptions;
  agent: Agent;
  samples: Sample[];
  pending: Set<PendingProbe>;
  isOn: () => boolean;
};

async function send({ options, agent, samples, pending, isOn }: ProbeRequest): Promise<void> {
  const { port, projects, perSecond } = options;
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let n = 0; isOn(); n += 1) {
    const project = projects[(n * 7919) % projects.length];
    if (!project) throw new Error('probes need a project');
    const userId = `probe-${String(n % PROBE_PEOPLE).padStart(4, '0')}`;
    const marker = `${series}-${n}`;
    const event = {
      external_user_id: userId,
      name: 'feature_used',
      properties: { feature: 'export', amount: 10, marker },
    };
    const sent = post({ port, agent }, { secret: project.secret, event }).then((status) => {
      const sample: Sample = { acceptedAt: performance.now(), seenAt: null, status };
      samples.push(sample);
      if (status === 202) pending.add({ projectId: project.id, userId, marker, sample });
    });
    underWay.push(sent);
    await pause(startedAt + ((n + 1) * 1_000) / perSecond - performance.now());
  }
  await Promise.all(underWay);
}

function post(
  { port, agent }: { port: number; agent: Agent },
  { secret, event }: { secret: string; event: object },
): Promise<number> {
  const body = JSON.stringify(event);
  return new Promise((resolve, reject) => {
    const probes = request(
      {
        port,
        agent,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/v1/events',
        headers: {
          Authorization: `Bearer ${secret}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'Idempotency-Key': crypto.randomUUID(),
        },
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    probes.on('error', reject);
    probes.end(body);
  });
}

const SEEN = `
  SELECT p.n::int AS n FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS p(project_id, user_id, marker, n)
  CROSS JOIN LATERAL (
    SELECT 1 FROM beckon.event e WHERE e.project_id = p.project_id AND e.external_user_id = p.user_id AND e.name = 'feature_used'
      AND e.occurred_at > now() - interval '2 minutes' AND e.received_at > now() - interval '2 minutes' AND e.properties ->> 'marker' = p.marker LIMIT 1
  ) found`;

async function look(db: Testbed['db'], pending: Set<PendingProbe>, isOn: () => boolean): Promise<void> {
  while (isOn()) {
    const startedAt = performance.now();
    const probes = [...pending];
    if (probes.length > 0) {
      const columns = [
        probes.map((probe) => probe.projectId),
        probes.map((probe) => probe.userId),
        probes.map((probe) => probe.marker),
      ];
      const rows = await db.prepared<{ n: number }>({ name: 'bench.seen', text: SEEN, values: columns });
      const now = performance.now();
      for (const { n } of rows) {
        const probe = probes[n - 1];
        if (!probe) continue;
        probe.sample.seenAt = now;
        pending.delete(probe);
      }
    }
    await pause(POLL_MS - (performance.now() - startedAt));
  }
}

export type Visibility = {
  samples: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
  /** Events that were accepted but not seen in time. Together with refused ones, any of them invalidates the run. */
  unseen: number;
  refused: number;
};

/** Summarizes the samples accepted within a time span, or all samples without a span. */
export function visibility(samples: Sample[], span?: { from: number; to: number }): Visibility | null {
  const within = samples.filter(
    ({ acceptedAt }) => !span || (acceptedAt >= span.from && acceptedAt < span.to),
  );
  const accepted = within.filter(({ status }) => status === 202);
  const latencies = accepted.flatMap(({ acceptedAt, seenAt }) =>
    seenAt === null ? [] : [Math.max(0, seenAt - acceptedAt)],
  );
  if (latencies.length === 0) return null;
  return {
    samples: latencies.length,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    max: quantile(latencies, 1),
    unseen: accepted.length - latencies.length,
    refused: within.length - accepted.length,
  };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
