import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../bench/measure.ts';
import { acceptedReason } from './accepted.ts';
import type { Attack, Finding } from './attack.ts';

export type Result = {
  id: string;
  title: string;
  passLine: string;
  state: 'passed' | 'failed' | 'skipped';
  /** The requests and inputs of the attack, with their counts. */
  counts: Record<string, number>;
  notes: string[];
  /** The findings that must be fixed. */
  findings: Finding[];
  /** The findings that are accepted, with the reason. */
  accepted: (Finding & { reason: string })[];
};

/** Returns the result of an attack. It passes if every finding is listed as accepted with its reason. */
export function resultOf(
  attack: Pick<Attack, 'id' | 'title' | 'passLine'>,
  {
    counts,
    notes,
    attackFindings,
  }: { counts: Record<string, number>; notes: string[]; attackFindings: Finding[] },
): Result {
  const hasCounts = Object.values(counts).some((times) => times > 0);
  // An attack without requests proves nothing.
  const all = hasCounts
    ? attackFindings
    : [...attackFindings, { severity: 'high' as const, title: 'the attack sent no requests' }];
  const findings = all.filter((finding) => acceptedReason(attack.id, finding) === null);
  return {
    id: attack.id,
    title: attack.title,
    passLine: attack.passLine,
    state: findings.length === 0 ? 'passed' : 'failed',
    counts,
    notes,
    findings,
    accepted: all.flatMap((finding) => {
      const reason = acceptedReason(attack.id, finding);
      return reason === null ? [] : [{ ...finding, reason }];
    }),
  };
}

export function skippedResult(attack: Pick<Attack, 'id' | 'title' | 'passLine'>, reason: string): Result {
  const { id, title, passLine } = attack;
  return { id, title, passLine, state: 'skipped', counts: {}, notes: [reason], findings: [], accepted: [] };
}

const FINDINGS_MAX = 20;

export function linesOf(result: Result): string {
  const countsLine = countsText(result);
  return [
    `${result.id} ${result.state}: ${result.title}`,
    `   pass line: ${result.passLine}`,
    ...(countsLine === '' ? [] : [`   requests: ${countsLine}`]),
    ...result.notes.map((note) => `   note: ${note}`),
    ...result.accepted.map(({ title, reason }) => `   accepted: ${title} (${reason})`),
    ...result.findings
      .slice(0, FINDINGS_MAX)
      .map(
        ({ severity, title, evidence = '' }) =>
          `   FOUND (${severity}): ${title} ${evidence.slice(0, 2_500)}`,
      ),
    ...(result.findings.length > FINDINGS_MAX
      ? [`   and ${result.findings.length - FINDINGS_MAX} more`]
      : []),
  ].join('\n');
}

export function tableOf(results: Result[]): string {
  return table(
    ['', 'state', 'found', 'accepted', 'requests'],
    results.map((result) => [
      result.id,
      result.state,
      String(result.findings.length),
      String(result.accepted.length),
      countsText(result) || result.notes.join('; '),
    ]),
  );
}

function countsText({ counts }: Result): string {
  return Object.entries(counts)
    .map(([label, times]) => `${times} ${label}`)
    .join(', ');
}

export type AttackReport = { at: string; quick: boolean; results: Result[] };

export function writeReport(folder: string, report: AttackReport): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'report.json');
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}
