import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../bench/measure.ts';
import { accepted } from './accepted.ts';
import type { Attack, Finding } from './attack.ts';

export type Result = {
  id: string;
  title: string;
  passLine: string;
  state: 'passed' | 'failed' | 'skipped';
  /** The requests and inputs of the attack, with their counts. */
  asked: Record<string, number>;
  notes: string[];
  /** The findings that must be fixed. */
  findings: Finding[];
  /** The findings that are accepted, with the reason. */
  accepted: (Finding & { reason: string })[];
};

/** Returns the result of an attack. It passes if every finding is listed as accepted with its reason. */
export function judge(
  attack: Pick<Attack, 'id' | 'title' | 'passLine'>,
  { asked, notes, found }: { asked: Record<string, number>; notes: string[]; found: Finding[] },
): Result {
  const isAsked = Object.values(asked).some((times) => times > 0);
  // An attack without requests proves nothing.
  const all = isAsked ? found : [...found, { severity: 'high' as const, what: 'nothing was asked' }];
  const findings = all.filter((finding) => accepted(attack.id, finding) === null);
  return {
    id: attack.id,
    title: attack.title,
    passLine: attack.passLine,
    state: findings.length === 0 ? 'passed' : 'failed',
    asked,
    notes,
    findings,
    accepted: all.flatMap((finding) => {
      const reason = accepted(attack.id, finding);
      return reason === null ? [] : [{ ...finding, reason }];
    }),
  };
}

export function skipped(attack: Pick<Attack, 'id' | 'title' | 'passLine'>, reason: string): Result {
  const { id, title, passLine } = attack;
  return { id, title, passLine, state: 'skipped', asked: {}, notes: [reason], findings: [], accepted: [] };
}

const FINDINGS_SHOWN = 20;

export function linesOf(result: Result): string {
  const asked = askedText(result);
  return [
    `${result.id} ${result.state}: ${result.title}`,
    `   pass line: ${result.passLine}`,
    ...(asked === '' ? [] : [`   asked: ${asked}`]),
    ...result.notes.map((note) => `   note: ${note}`),
    ...result.accepted.map(({ what, reason }) => `   let be: ${what} (${reason})`),
    ...result.findings
      .slice(0, FINDINGS_SHOWN)
      .map(
        ({ severity, what, evidence = '' }) => `   FOUND (${severity}): ${what} ${evidence.slice(0, 2_500)}`,
      ),
    ...(result.findings.length > FINDINGS_SHOWN
      ? [`   and ${result.findings.length - FINDINGS_SHOWN} more`]
      : []),
  ].join('\n');
}

export function tableOf(results: Result[]): string {
  return table(
    ['', 'state', 'found', 'let be', 'asked'],
    results.map((one) => [
      one.id,
      one.state,
      String(one.findings.length),
      String(one.accepted.length),
      askedText(one) || one.notes.join('; '),
    ]),
  );
}

function askedText({ asked }: Result): string {
  return Object.entries(asked)
    .map(([what, times]) => `${times} ${what}`)
    .join(', ');
}

export type Told = { at: string; quick: boolean; results: Result[] };

export function writeReport(folder: string, told: Told): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'report.json');
  writeFileSync(file, `${JSON.stringify(told, null, 2)}\n`);
  return file;
}
