import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRule } from './parse.ts';
import { ruleSentence } from './sentence.ts';
import { SHIPPED_RULES } from './shipped.ts';

const guide = readFileSync(new URL('../../../../../../docs/reference/rules.md', import.meta.url), 'utf8');
const REFERRED = '0198a000-0000-7000-8000-00000000000f';

type Example = { json: string; sentence: string };

/** A table row under its header, or a JSON block with the sentence below it. */
const ROW = /^\| `([{"].*[}"])` \| (.+) \|$/gm;
const BLOCK = /^```json\n([\s\S]*?)\n```\n\n> (.+)$/gm;

function examplesOf(text: string, pattern: RegExp): Example[] {
  return Array.from(text.matchAll(pattern), ([, json = '', sentence = '']) => ({ json, sentence }));
}

function rowsUnder(head: string): Example[] {
  const [, below = ''] = guide.split(`\n| ${head} |`);
  return examplesOf(below.split('\n\n')[0] ?? '', ROW);
}

const RIGHT = { name: 'Example', when: { event: 'user_signed_up' }, steps: [{ draft: 'welcome' }] };

function parsed(document: unknown) {
  const parsing = parseRule(document);
  if (!parsing.ok) throw new Error(JSON.stringify(parsing.faults));
  return parsing.rule;
}

function describeRule(document: unknown): string {
  return ruleSentence(parsed(document).definition, (id) => (id === REFERRED ? 'Trial users' : undefined));
}

const blocks = examplesOf(guide, BLOCK);
const triggers = rowsUnder('Trigger | The rule starts');
const entries = rowsUnder('Enrollment | Each user is enrolled');
const steps = rowsUnder('Step | Effect');
const refused = rowsUnder('Fields | Error');

test.each(blocks)('describes $json as in the guide', (example) => {
  expect(describeRule(JSON.parse(example.json))).toBe(example.sentence);
});

test.each(triggers)('describes the trigger $json as in the guide', (example) => {
  const sentence = describeRule({ ...RIGHT, when: JSON.parse(example.json) });
  expect(sentence).toBe(
    `Starts ${example.sentence}. Enrolls each user once. Steps: draft the email “welcome”. Ends early when the user replies.`,
  );
});

test.each(entries)('describes the enrollment setting $json as in the guide', (example) => {
  const sentence = describeRule({
    ...RIGHT,
    enrollment: JSON.parse(example.json),
    about: { event: 'trial_started' },
  });
  expect(sentence).toContain(
    `Starts when user_signed_up happens. Enrolls each user ${example.sentence}. Steps: draft the email “welcome”.`,
  );
});

test.each(steps)('describes the step $json as in the guide', (example) => {
  const sentence = describeRule({ ...RIGHT, steps: [{ draft: 'first' }, JSON.parse(example.json)] });
  expect(sentence).toContain(
    `Enrolls each user once. Steps: draft the email “first”. Then ${example.sentence}. Ends early`,
  );
});

test.each(refused)('rejects $json with the error in the guide', (example) => {
  const parsing = parseRule({ ...RIGHT, ...(JSON.parse(example.json) as object) });
  expect(parsing.ok ? [] : parsing.faults.map(({ message }) => `\`${message}\``)).toEqual([example.sentence]);
});

test('covers every example of the guide', () => {
  const rows = guide.split('\n').filter((line) => /^\| `[{"]/.test(line));
  expect(triggers.length + entries.length + steps.length + refused.length).toBe(rows.length);
  expect(blocks).toHaveLength(guide.split('\n```json\n').length - 1);
});

test('ships the rules that the guide shows', () => {
  const rules = blocks
    .map(({ json }) => parsed(JSON.parse(json)))
    .filter(({ name }) => SHIPPED_RULES.some((rule) => rule.name === name));
  expect(rules).toEqual(SHIPPED_RULES);
});

/** The fields that `parse*.ts` read. The fields of predicates have examples in the audience guide. */
const FIELDS = `
  name mode deadline when about only_if enrollment exits goal max_event_age priority holdout
  counts topic tracking expires_after steps ends_in_days move relative_to plus_days before after trait
  absence_of since for until once_per otherwise cooldown per again events on_reply draft
  subject preheader body wait wait_until weekdays at wait_for within then else branch if
  end
`
  .trim()
  .split(/\s+/);

test('has an example for every field of the rule language', () => {
  const fields = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) for (const key of Object.keys(value)) fields.add(key);
    for (const inner of Object.values(value)) collect(inner);
  };
  for (const { json } of [...blocks, ...triggers, ...entries, ...steps]) collect(JSON.parse(json));
  expect(FIELDS.filter((field) => !fields.has(field))).toEqual([]);
});
