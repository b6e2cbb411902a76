import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActionEntry, Entry, LoadEntry } from './journal.ts';
import type { OracleReport } from './oracle/index.ts';

/** The parameters of a run and its results. */
export type Report = {
  seed: number;
  minutes: number;
  commit: string;
  postgres: Record<string, string>;
  /** Per code: how often it ran, and how often its victim had work under way. */
  faults: Record<string, { all: number; counted: number }>;
  /** The longest time from a restart of PostgreSQL until requests were accepted again. */
  recovered: { times: number; slowestMs: number };
  load: Record<string, number>;
  counts: Record<string, number>;
  violations: OracleReport['violations'];
};

export function faultsOf(entries: Entry[]): Pick<Report, 'faults' | 'recovered'> {
  const faults: Report['faults'] = {};
  const recovered = { times: 0, slowestMs: 0 };
  for (const entry of entries) {
    if (entry.kind === 'fault') {
      const counts = (faults[entry.code] ??= { all: 0, counted: 0 });
      counts.all += 1;
      if (entry.inFlight > 0) counts.counted += 1;
    }
    if (entry.kind === 'recovered' && entry.code === 'F3') {
      recovered.times += 1;
      recovered.slowestMs = Math.max(recovered.slowestMs, entry.afterMs);
    }
  }
  return { faults, recovered };
}

/** `ambiguous`: requests with at least one unanswered attempt. */
export function loadOf(entries: Entry[]): Report['load'] {
  const tries = entries.filter((entry) => entry.kind === 'begin');
  const requests = new Map(tries.map((attempt) => [attempt.request, attempt]));
  const requestOf = new Map(tries.map(({ id, request }) => [id, request]));
  const requestsWith = (matches: (entry: LoadEntry) => boolean): Set<string> =>
    new Set(
      entries.flatMap((entry) => (isOfLoad(entry) && matches(entry) ? [requestOf.get(entry.id) ?? ''] : [])),
    );
  const acknowledged = [...requestsWith((entry) => entry.kind === 'end' && entry.status < 300)].flatMap(
    (request) => requests.get(request) ?? [],
  );
  return {
    acknowledged: acknowledged.length,
    singles: acknowledged.filter(({ path }) => !/batch|bulk/.test(path)).length,
    records: acknowledged.reduce((sum, { records }) => sum + records, 0),
    tries: tries.length,
    ambiguous: requestsWith(({ kind }) => kind === 'lost').size,
    emails: entries.filter((entry) => entry.kind === 'email' && entry.replyStatus === 250).length,
    deliveries: entries.filter(({ kind }) => kind === 'hook').length,
  };
}

function isOfLoad(entry: Entry): entry is LoadEntry {
  return entry.kind === 'begin' || entry.kind === 'end' || entry.kind === 'lost';
}

/**
 * Returns permanent refusals that clients got. No client sent an invalid request, so each is a violation. A key that was revoked in that
 * time is expected to be refused.
 */
export function refusalsOf(entries: Entry[]): string[] {
  const revoked = new Set(entries.flatMap((entry) => (isRevocation(entry) ? [entry.subject] : [])));
  const normal = new Map<string, string>();
  return entries.flatMap((entry) => {
    if (entry.kind === 'begin' && (entry.intent === 'normal' || entry.intent === 'retry'))
      normal.set(entry.id, entry.key);
    if (entry.kind !== 'end' || entry.status < 300 || entry.status >= 500 || entry.status === 429) return [];
    const key = normal.get(entry.id);
    if (key === undefined || (entry.status === 401 && revoked.has(key))) return [];
    return [`${entry.status} to ${entry.id}: ${entry.body.slice(0, 200)}`];
  });
}

function isRevocation(entry: Entry): entry is ActionEntry {
  return entry.kind === 'action' && entry.action === 'revoke_key';
}

export function commitOf(): string {
  try {
    const commit = git('rev-parse', 'HEAD');
    return git('status', '--porcelain') === '' ? commit : `${commit} with changes`;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

export function writeReport(dir: string, report: Report): void {
  writeFileSync(join(dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
}

const EVIDENCE_MAX = 5;

export function describeReport({ violations, ...report }: Report): string {
  const share = report.load.acknowledged
    ? Math.round((100 * (report.load.singles ?? 0)) / report.load.acknowledged)
    : 0;
  const lines = [
    `seed ${report.seed}, ${report.minutes} minutes, commit ${report.commit}`,
    `PostgreSQL: ${formatPairs(report.postgres)}`,
    ...Object.entries(report.faults)
      .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .map(([code, { all, counted }]) => `${code}: ${all}, ${counted} with work under way`),
    `PostgreSQL restarted ${report.recovered.times} times, at most ${report.recovered.slowestMs} ms until requests were accepted`,
    `load: ${formatPairs(report.load)} (single: ${share} %)`,
    `oracle: ${formatPairs(report.counts)}`,
    ...violations.flatMap(({ invariant, problem, evidence }) => [
      `VIOLATION ${invariant}: ${problem}`,
      ...evidence.slice(0, EVIDENCE_MAX).map((line) => `    ${line}`),
    ]),
  ];
  return lines.join('\n');
}

/** Returns the report in one line. */
export function summaryOf({ seed, faults, load, violations }: Report): string {
  const all = Object.values(faults).reduce((sum, count) => sum + count.all, 0);
  const counted = Object.values(faults).reduce((sum, count) => sum + count.counted, 0);
  return `faults: seed ${seed}, ${all} faults (${counted} counted), ${load.acknowledged} acknowledged, ${load.emails} emails, ${load.deliveries} deliveries, ${violations.length} violations`;
}

function formatPairs(facts: Record<string, string | number>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
