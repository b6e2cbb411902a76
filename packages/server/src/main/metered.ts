import type { Log } from '../platform/log.ts';
import type { Transport } from '../modules/delivery/index.ts';
import type { SendResult } from '../platform/mail/send-result.ts';
import type { Metrics } from '../modules/operations/metrics/metrics.ts';
import type { Database } from '../platform/db/database.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { Job } from '../platform/jobs/scheduler.ts';

/** Wrappers that add metrics. The wrapped objects behave as before. */

export function meteredLog(log: Log, logged: Metrics['countLogLine']): Log {
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
  return meteredSubmissions(transport, metrics);
}

/** For one of several relays. */
export function meteredSubmissions(transport: Transport, metrics: Metrics): Transport {
  return {
    ...transport,
    async submit(email) {
      const startedAt = performance.now();
      const record = (result: string, refusal: string): void =>
        metrics.countSubmission({ result, class: refusal, ms: performance.now() - startedAt });
      try {
        const submitted = await transport.submit(email);
        record(submitted.result, classOf(submitted));
        return submitted;
      } catch (error) {
        record('unknown', '');
        throw error;
      }
    },
  };
}

function classOf(submitted: SendResult): string {
  return submitted.result === 'failed' || submitted.result === 'deferred'
    ? (submitted.bounce?.class ?? '')
    : '';
}

const A_CLASS = 100;

export function meteredOutbound(outbound: Outbound, posted: Metrics['countAttempt']): Pick<Outbound, 'post'> {
  return {
    async post(request) {
      const response = await outbound.post(request);
      const result = response.ok ? `${Math.floor(response.status / A_CLASS)}xx` : response.error;
      posted({ result, ms: response.ms });
      return response;
    },
  };
}

export function meteredJob(
  job: Job,
  { metrics, clock }: { metrics: Metrics; clock: Database['clock'] },
): Job {
  const { name } = job;
  // The start of the process counts as a success, so that a job that never ends becomes overdue too.
  metrics.addJob(name, clock.now());
  return {
    ...job,
    async run(run) {
      const startedAt = performance.now();
      const record = (isWell: boolean): void =>
        metrics.countJobRun({ job: name, isWell, at: clock.now(), ms: performance.now() - startedAt });
      try {
        await job.run(run);
        record(true);
      } catch (error) {
        record(false);
        throw error;
      }
    },
  };
}
