import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Attack, Limits, Target } from './attack.ts';
import { ATTACKS } from './attacks.ts';
import { resultOf, linesOf, type Result, skippedResult, tableOf, writeReport } from './report.ts';
import { hasTool } from './run-tool.ts';
import { newVictim, type Victim } from './victim.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    report: { type: 'string' },
    'minutes-sqlmap': { type: 'string', default: '30' },
    'minutes-fuzz': { type: 'string' },
  },
});

const limits: Limits = {
  sqlmapMinutes: minutes('minutes-sqlmap', values['minutes-sqlmap']),
  fuzzMinutes: minutes('minutes-fuzz', values['minutes-fuzz'] ?? (values.full ? '60' : '5')),
};

function minutes(name: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new Error(`--${name} is not a number of minutes: ${text}`);
}

const attacks = chooseAttacks();
const shared: { victim: Victim | null } = { victim: null };
const results: Result[] = [];
try {
  for (const attack of attacks) {
    const result = await run(attack);
    results.push(result);
    process.stdout.write(`${linesOf(result)}\n\n`);
  }
} finally {
  await shared.victim?.remove();
}
process.stdout.write(`${tableOf(results)}\n`);
if (values.report !== undefined) {
  const report = { at: new Date().toISOString(), quick: values.quick, results };
  process.stdout.write(`${writeReport(values.report, report)}\n`);
}
process.exitCode = results.some(({ state }) => state === 'failed') ? 1 : 0;

function chooseAttacks(): Attack[] {
  const names = values.only?.toUpperCase().split(',');
  const unknown = names?.filter((name) => !ATTACKS.some(({ id }) => id === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `no such attack: ${unknown.join(', ')}; there are ${ATTACKS.map(({ id }) => id).join(', ')}`,
    );
  return ATTACKS.filter(({ id, quick }) => (names?.includes(id) ?? true) && (!values.quick || quick));
}

async function run(attack: Attack): Promise<Result> {
  const missing = (attack.needs ?? []).filter((tool) => !hasTool(tool));
  if (missing.length > 0) return skippedResult(attack, `not installed: ${missing.join(', ')}`);
  process.stdout.write(`${attack.id} ...\n`);
  const counts: Record<string, number> = {};
  const notes: string[] = [];
  const ownVictims: Victim[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'beckon-attack-'));
  const target: Target = {
    limits,
    dir,
    async sharedVictim() {
      shared.victim ??= await newVictim();
      return shared.victim;
    },
    async ownVictim(env = {}) {
      const victim = await newVictim({ env });
      ownVictims.push(victim);
      return victim;
    },
    count: (label, times = 1) => void (counts[label] = (counts[label] ?? 0) + times),
    note: (text) => void notes.push(text),
  };
  try {
    return resultOf(attack, { counts, notes, attackFindings: await attack.run(target) });
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const broken = { severity: 'high' as const, title: 'the attack was aborted', evidence };
    return resultOf(attack, { counts, notes, attackFindings: [broken] });
  } finally {
    for (const victim of ownVictims) await victim.remove();
    rmSync(dir, { recursive: true, force: true });
  }
}
