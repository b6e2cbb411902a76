import { describe, expect, test } from 'vitest';
import { countWords, problemsOf } from './rules.ts';
import { TERMS } from './terms.ts';

const rulesOf = (sentence: string): string[] => problemsOf(sentence).map(({ rule }) => rule);
const adviceOf = (sentence: string): string[] => problemsOf(sentence).map(({ advice }) => advice);

/** One sentence for each entry of the glossary. */
const EXAMPLES: [string, string][] = [
  ['The letter is sent.', 'email'],
  ['An e-mail arrives.', 'email'],
  ['The outbox is empty.', 'test inbox'],
  ['The teller sleeps.', 'webhook dispatcher'],
  ['The ledger has a row.', 'decision log'],
  ['Rehearse the rule.', 'backtest'],
  ['The verdict is bot.', 'classification'],
  ['Records are digested.', 'process'],
  ['Both lanes are full.', 'priority'],
  ["It takes the project's turn.", 'project lock'],
  ['A duty runs hourly.', 'scheduled job'],
  ['The timetable is empty.', 'scheduler'],
  ['The bell rings.', 'wake-up'],
  ['A crash point is set.', 'failpoint'],
  ['The record dies alone.', 'dead-lettered'],
  ['The seal is invalid.', 'signed token'],
  ['The address is veiled.', 'redacted'],
  ['Secrets are resealed.', 're-encrypt'],
  ['The ramp has ended.', 'warm-up'],
  ['The draft leaves by itself.', 'autopilot'],
  ['Sisters never meet.', 'another module'],
  ['There is no room left.', 'space'],
  ['Enter by the door.', 'public API'],
  ['The floor below is free.', 'layer'],
  ['The next hop fails.', 'stage'],
  ['A machine of their house.', 'name the thing'],
  ['The draft of somebody is held.', 'a user'],
  ['The endpoint was told.', 'notify'],
  ['The draft was put off.', 'postpone'],
  ['The record was put back.', 'restore'],
  ['The lock was let go.', 'release'],
  ['The email was handed over.', 'submit'],
  ['The limit stands in the table.', 'is'],
  ['The file lies in the folder.', 'is'],
  ['It starts anew.', 'again'],
  ['The draft changed meanwhile.', 'since then'],
  ['The layer beneath is free.', 'below'],
  ['The part thereof is stored.', 'a plain connective'],
  ['Ten rows, of which two are old.', 'a sentence of its own'],
  ['The cursor is none of this list.', 'is not a'],
  ['A draft in the making is shown.', 'a plain phrase'],
  ['The colour is blue.', 'the American spelling'],
  ['The name is normalised.', '-ize'],
];

describe('problemsOf', () => {
  test('finds nothing in a plain sentence', () => {
    expect(problemsOf('A rule enrolls a user once per enrollment key.')).toEqual([]);
  });

  test('reports a sentence that opens without a noun', () => {
    expect(problemsOf('What failed is tried again.')).toEqual([
      { rule: 'headless', advice: 'opens with "What": begin with the noun' },
    ]);
    for (const opening of [
      'Whoever waits',
      'Of this email',
      'Nothing that',
      'Whether it',
      'Those who',
      'Where it',
    ])
      expect(rulesOf(`${opening} is found here.`), opening).toContain('headless');
  });

  test('accepts questions and short column headings', () => {
    expect(rulesOf('What is a rule?')).toEqual([]);
    expect(rulesOf('What')).toEqual([]);
  });

  test.each(EXAMPLES)('suggests the glossary term in "%s"', (sentence, say) => {
    expect(adviceOf(sentence)).toEqual([expect.stringMatching(new RegExp(`^".+": say .*${say}`))]);
  });

  test('has an example for each term', () => {
    const suggested = EXAMPLES.flatMap(([sentence]) => adviceOf(sentence));
    const missing = TERMS.filter(({ say }) => !suggested.some((advice) => advice.endsWith(`: say ${say}`)));
    expect(missing).toEqual([]);
  });

  test('accepts the other meanings of a word', () => {
    const sentences = [
      'A dead letter is replayed.',
      'Use lower-case letters and digits.',
      'Codes have 6 letters.',
      'The transactional outbox pattern commits both.',
      'Too many proxy hops.',
      'It intends to retell newsletters.',
    ];
    for (const sentence of sentences) expect(problemsOf(sentence), sentence).toEqual([]);
  });

  test('reports a sentence of more than 25 words', () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    expect(problemsOf(words(25))).toEqual([]);
    expect(adviceOf(words(26))).toEqual(['26 words: split it, at most 25']);
  });
});

describe('countWords', () => {
  test('counts code as a word and punctuation as none', () => {
    expect(countWords('Set ◆ to 5 – or – to ◆.')).toBe(7);
  });
});
