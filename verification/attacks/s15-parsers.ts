import { availableParallelism } from 'node:os';
import { check } from 'recheck';
import { BOUNDED_PATTERNS } from './accepted.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { attackOf, costOf } from './fuzz/cost.ts';
import { fuzz, type Fuzzed, PARSERS, SLOW_CPU_MS } from './fuzz/fuzz.ts';
import { allPatterns } from './fuzz/patterns.ts';
import { runTests } from './run-tests.ts';

const PATTERN_MS = 10_000;

export const s15: Attack = {
  id: 'S15',
  title:
    'parsers: fuzzing of everything that parses untrusted input; every regular expression checked by recheck',
  passLine:
    'no crash, no hang, only Faults are thrown, and no input costs more than 50 ms. A pattern that recheck finds vulnerable costs no more, even with its longest and worst text',
  quick: false,
  async run(target) {
    const findings: Finding[] = [];
    const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
    target.note(`FUZZ_SEED=${seed}, ${target.limits.fuzzMinutes} minutes a parser`);
    for (const { name, inputs, slow, findings: parserFindings } of await fuzzAll(
      seed,
      target.limits.fuzzMinutes,
    )) {
      target.count('parsers');
      target.count('inputs', inputs);
      target.note(`${name}: ${inputs} inputs${slow > 0 ? `, ${slow} checked again for their time` : ''}`);
      findings.push(...parserFindings);
      if (inputs === 0) findings.push({ severity: 'high', title: `${name}: nothing was read` });
    }
    findings.push(...(await checkPatterns(target)));
    const tests = await runTests(target, [
      'packages/server/src/modules/inbound/classification/mail-in.test.ts',
      'packages/server/src/modules/inbound/classification/mutations.test.ts',
      'packages/server/src/modules/rules/definitions/parse.property.test.ts',
      'packages/server/src/modules/inbound/mail/authenticate.test.ts',
    ]);
    return [...findings, ...tests];
  },
};

/** Fuzzes as many parsers at once as the machine has cores, each for its whole time. */
async function fuzzAll(seed: number, minutes: number): Promise<(Fuzzed & { name: string })[]> {
  const fuzzed: (Fuzzed & { name: string })[] = [];
  const waiting = PARSERS.entries();
  const take = async (): Promise<void> => {
    for (const [at, parser] of waiting)
      fuzzed[at] = { name: parser.name, ...(await fuzz(parser, { seed, forMs: minutes * 60_000 })) };
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return fuzzed;
}

/** Checks all patterns. Patterns that recheck cannot decide within its time are listed, not skipped. */
async function checkPatterns(target: Target): Promise<Finding[]> {
  // The JavaScript backend needs no other program.
  process.env['RECHECK_BACKEND'] = 'pure';
  const findings: Finding[] = [];
  const undecided: string[] = [];
  for (const { source, flags, file, line } of allPatterns()) {
    // recheck does not support the additions of the `v` flag over `u`.
    const analysis = await check(source, flags.replace('v', 'u'), { timeout: PATTERN_MS });
    target.count('regular expressions');
    const where = `${file}:${line} /${source}/${flags}`;
    if (analysis.status === 'unknown') undecided.push(where);
    if (analysis.status !== 'vulnerable') continue;
    const title = `${where} is ${analysis.complexity.summary}`;
    const bound = BOUNDED_PATTERNS.find((boundedPattern) => boundedPattern.source === source);
    const ms = bound && (await costOf(new RegExp(source, flags), attackOf(analysis.attack, bound.charsMax)));
    if (bound && ms !== undefined && ms <= SLOW_CPU_MS)
      target.note(
        `accepted: ${title}: ${ms.toFixed(1)} ms for ${bound.charsMax} characters (${bound.bounded})`,
      );
    else
      findings.push({
        severity: 'medium',
        title: ms === undefined ? title : `${title}: ${ms.toFixed(0)} ms`,
      });
  }
  if (undecided.length > 0) target.note(`recheck could not decide: ${undecided.join(' · ')}`);
  return findings;
}
