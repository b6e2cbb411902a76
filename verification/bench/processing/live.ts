import { type LoadPlan, type LoadResult, startLoad } from '../load/index.ts';
import type { Testbed, Project, Target } from '../testbed.ts';
import { pause, type Sample, startProbes } from './visible.ts';

/** A steady stream of single events over HTTP, including marked ones, for as long as some work lasts. */
export type Live = {
  testbed: Testbed;
  api: Target;
  projects: Project[];
  perSecond: number;
};

export type LiveResult<T> = {
  result: T;
  load: LoadResult;
  samples: Sample[];
  /** The highest age of the oldest waiting live record. */
  oldestMs: number;
};

/** The number of different users in the stream, spread over its projects. */
const USERS = 10_000;
const USERS_SEED = 4_711;
const PROBES_PER_SECOND = 100;
const POLL_MS = 50;
/** The time until the streams run evenly. */
const SETTLE_MS = 1_500;
const HOUR_S = 3_600;

const BODY =
  '{"external_user_id":"{{user}}","name":"feature_used","properties":{"feature":"export","amount":10,"place":"{{id}}"}}';

export async function withLive<T>(live: Live, work: () => Promise<T>): Promise<LiveResult<T>> {
  const { testbed, api, projects, perSecond } = live;
  const load = startLoad(planOf(live));
  const probes = startProbes(testbed, {
    port: api.port,
    projects,
    perSecond: Math.min(PROBES_PER_SECOND, perSecond),
  });
  const watch = watchOldest(testbed);
  try {
    await pause(SETTLE_MS);
    watch.forget();
    const result = await work();
    const oldestMs = await watch.stop();
    const samples = await probes.stop();
    load.stop();
    return { result, load: await load.result, samples, oldestMs };
  } catch (error) {
    load.stop();
    await Promise.allSettled([watch.stop(), probes.stop(), load.result]);
    throw error;
  }
}

function planOf({ api, projects, perSecond }: Live): LoadPlan {
  return {
    host: '127.0.0.1',
    port: api.port,
    request: {
      method: 'POST',
      path: '/api/v1/events',
      headers: { 'User-Agent': 'beckon-bench/1.0.0' },
      projects: projects.map(({ secret }) => secret),
      idempotencyKey: true,
      body: { kind: 'text', text: BODY },
      users: USERS,
      usersSeed: USERS_SEED,
    },
    mode: { kind: 'open', perSecond, connections: 64 },
    seconds: HOUR_S,
    warmupSeconds: 1,
  };
}

/** Returns whether the server accepted the whole load. A server that falls behind is not measured at the intended rate. */
export function keptUp(load: LoadResult): boolean {
  return load.errors === 0 && (load.latenessMs?.p99 ?? 0) < 1_000;
}

const OLDEST = `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - accepted_at)), 0)::float8 * 1000 AS ms FROM beckon.ingest_queue WHERE priority = 'live'`;

/** `forget` discards the measurements so far, from the start of the stream. */
function watchOldest({ db }: Testbed): { forget(): void; stop(): Promise<number> } {
  let on = true;
  let worst = 0;
  const watching = (async () => {
    while (on) {
      const rows = await db.query<{ ms: number }>(OLDEST);
      worst = Math.max(worst, rows[0]?.ms ?? 0);
      await pause(POLL_MS);
    }
  })();
  return {
    forget() {
      worst = 0;
    },
    async stop() {
      on = false;
      await watching;
      return worst;
    },
  };
}
