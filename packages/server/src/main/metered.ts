import type { Log } from '../platform/log.ts';
import type { Handed, Transport } from '../modules/delivery/index.ts';
import type { Metrics } from '../modules/operations/metrics/metrics.ts';
import type { Database } from '../platform/db/database.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { Job } from '../platform/jobs/scheduler.ts';

/** Wrappers that add metrics. The wrapped objects behave as before. */

export function meteredLog(log: Log, logged: Metrics['logged']): Log {
  return {
    debug: (fields, event) => log.debug(fields, event),
    info: (fields, event) => log.info(fields, event),
    warn(fields, event) {
      logged('warn', event);
      log.warn(fields, event);
    },
    error(fields, event) {
      logged('error', event);
      log.error(fields, event);
    },
  };
}

export function meteredTransport(
  transport: Transport,
  { metrics, clock }: { metrics: Metrics; clock: Database['clock'] },
): Transport {
  metrics.watchRelay(() => (transport.closedUntil?.(clock.now()) ?? null) !== null);
  return {
    ...transport,
    async hand(email) {
      const startedAt = performance.now();
      const told = (result: string, refusal: string): void =>
        metrics.handed({ result, class: refusal, ms: performance.now() - startedAt });
      try {
        const handed = await transport.hand(email);
        told(handed.result, classOf(handed));
        return handed;
      } catch (error) {
        told('unknown', '');
        throw error;
      }
    },
  };
}

function classOf(handed: Handed): string {
  return handed.result === 'failed' || handed.result === 'deferred' ? (handed.bounce?.class ?? '') : '';
}

const A_CLASS = 100;

export function meteredOutbound(outbound: Outbound, posted: Metrics['posted']): Pick<Outbound, 'post'> {
  return {
    async post(request) {
      const answer = await outbound.post(request);
      const result = answer.ok ? `${Math.floor(answer.status / A_CLASS)}xx` : answer.error;
      posted({ result, ms: answer.ms });
      return answer;
    },
  };
}

export function meteredJob(
  job: Job,
  { metrics, clock }: { metrics: Metrics; clock: Database['clock'] },
): Job {
  const { name } = job;
  // The start of the process counts as a success, so that a job that never ends becomes overdue too.
  metrics.jobKnown(name, clock.now());
  return {
    ...job,
    async run(stopping) {
      const startedAt = performance.now();
      const done = (isWell: boolean): void =>
        metrics.jobDone({ job: name, isWell, at: clock.now(), ms: performance.now() - startedAt });
      try {
        await job.run(stopping);
        done(true);
      } catch (error) {
        done(false);
        throw error;
      }
    },
  };
}
