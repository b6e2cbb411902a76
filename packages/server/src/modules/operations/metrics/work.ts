import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Metrics of work without a waiting client: emails, webhooks, background jobs and logged warnings and errors. */
export type WorkMetrics = {
  /** Counts an email that was submitted. `class`: of a rejection, otherwise empty. */
  countSubmission: (facts: { result: string; class: string; ms: number }) => void;
  /** `isOpen`: whether the circuit breaker of the relay is open. */
  watchRelay: (isOpen: () => boolean) => void;
  /** Counts a request to an endpoint. `result`: the class of the response (`2xx` …) or the error. */
  countAttempt: (facts: { result: string; ms: number }) => void;
  /** Reports a job that has not run in this process yet, as if it succeeded at `at`. */
  addJob: (job: string, at: number) => void;
  countJobRun: (facts: { job: string; isWell: boolean; at: number; ms: number }) => void;
  countLogLine: (level: string, event: string) => void;
};

const ACROSS_THE_NET = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export function addWorkMetrics(registers: Registry[]): WorkMetrics {
  const lines = new Counter({
    name: 'beckon_log_lines_total',
    help: 'Warnings and errors in the log, by event name',
    labelNames: ['level', 'event'],
    registers,
  });
  return {
    ...emailMetrics(registers),
    ...webhookMetrics(registers),
    ...jobMetrics(registers),
    countLogLine: (level, event) => lines.labels(level, event).inc(),
  };
}

function emailMetrics(registers: Registry[]): Pick<WorkMetrics, 'countSubmission' | 'watchRelay'> {
  const emails = new Counter({
    name: 'beckon_emails_total',
    help: 'Emails submitted to the relay or the test inbox, by result, and by class if rejected',
    labelNames: ['result', 'class'],
    registers,
  });
  const seconds = new Histogram({
    name: 'beckon_smtp_seconds',
    help: 'Time from submitting an email to the reply of the relay',
    labelNames: ['result'],
    buckets: ACROSS_THE_NET,
    registers,
  });
  return {
    countSubmission({ result, class: refusal, ms }) {
      emails.labels(result, refusal).inc();
      seconds.labels(result).observe(ms / 1_000);
    },
    watchRelay(isOpen) {
      new Gauge({
        name: 'beckon_relay_breaker_open',
        help: '1 while the circuit breaker of the relay is open, because the relay kept failing',
        registers,
        aggregator: 'max',
        collect() {
          this.set(isOpen() ? 1 : 0);
        },
      });
    },
  };
}

function webhookMetrics(registers: Registry[]): Pick<WorkMetrics, 'countAttempt'> {
  const attempts = new Counter({
    name: 'beckon_webhook_attempts_total',
    help: 'Requests to endpoints, by class of the response or by error',
    labelNames: ['result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'beckon_webhook_seconds',
    help: 'Time from the request to an endpoint to the end of its response',
    labelNames: ['result'],
    buckets: ACROSS_THE_NET.filter((limit) => limit <= 30),
    registers,
  });
  return {
    countAttempt({ result, ms }) {
      attempts.labels(result).inc();
      seconds.labels(result).observe(ms / 1_000);
    },
  };
}

function jobMetrics(registers: Registry[]): Pick<WorkMetrics, 'countJobRun' | 'addJob'> {
  const last = new Gauge({
    name: 'beckon_job_success_timestamp_seconds',
    help: 'Last successful end of a background job, or the start of the process if none exists',
    labelNames: ['name'],
    registers,
    aggregator: 'max',
  });
  const failures = new Counter({
    name: 'beckon_job_failures_total',
    help: 'Background jobs that failed. They are retried at their next time.',
    labelNames: ['name'],
    registers,
  });
  const seconds = new Counter({
    name: 'beckon_job_seconds_total',
    help: 'Time spent in background jobs',
    labelNames: ['name'],
    registers,
  });
  return {
    addJob: (job, at) => last.labels(job).set(at / 1_000),
    countJobRun({ job, isWell, at, ms }) {
      if (isWell) last.labels(job).set(at / 1_000);
      else failures.labels(job).inc();
      seconds.labels(job).inc(ms / 1_000);
    },
  };
}
