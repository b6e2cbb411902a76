import { expect, test } from 'vitest';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import { buildModel, covers, type EditionSource, type Touch } from './model.ts';

let numbers = 0;
/** An audience whose id ends with the number of its edition. */
function source(definition: unknown, more: Partial<EditionSource> = {}): EditionSource {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const edition = more.edition ?? (numbers += 1);
  return {
    edition,
    audienceId: idOf(edition),
    name: `audience ${edition}`,
    state: 'served',
    builtTo: null,
    built: 0,
    predicate: parsed.predicate,
    ...more,
  };
}

const idOf = (edition: number): string => `00000000-0000-7000-8000-${String(edition).padStart(12, '0')}`;
const touch = (more: Partial<Touch>): Touch => ({
  isNew: false,
  events: [],
  traits: [],
  email: false,
  ...more,
});
const numbersOf = (editions: { edition: number }[]): number[] => editions.map(({ edition }) => edition);

const ofTrait = (trait: string) => ({ trait, equals: 'x' });
const ofEvent = (event: string) => ({ event, at_least: 1, within: '7d' });
const inAudience = (edition: number) => ({ audience: idOf(edition) });

test('returns only the editions that mention the touched trait or event, among 500', () => {
  const sources = Array.from({ length: 500 }, (_, i) =>
    source(i % 2 === 0 ? ofTrait(`trait_${i}`) : ofEvent(`event_${i}`), { edition: i + 1 }),
  );
  const model = buildModel(sources);
  expect(numbersOf(model.touchedBy(touch({ traits: ['trait_100'], events: ['event_7'] })))).toEqual([8, 101]);
  expect(model.touchedBy(touch({ traits: ['other'], events: ['other'], email: true, isNew: true }))).toEqual(
    [],
  );
});

test('looks only at the editions that the touch names, whatever their total number', () => {
  const sources = Array.from({ length: 500 }, (_, i) => source(ofTrait(`trait_${i}`), { edition: i + 1 }));
  const model = buildModel(sources);
  let looked = 0;
  for (const edition of model.editions)
    Object.defineProperty(edition, 'mentions', { get: () => ((looked += 1), undefined) });
  expect(numbersOf(model.touchedBy(touch({ traits: ['trait_3'] })))).toEqual([4]);
  expect(looked).toBe(0);
});

test('orders an edition after those it refers to, and touches it with whatever touches them', () => {
  const model = buildModel([
    source({ all: [inAudience(2), ofTrait('c')] }, { edition: 1 }),
    source({ any: [inAudience(3), ofTrait('b')] }, { edition: 2 }),
    source(
      { all: [ofEvent('a'), { user: 'email', is_set: true }, { event: 'paid', at_least: 2 }] },
      { edition: 3 },
    ),
  ]);
  expect(numbersOf(model.editions)).toEqual([3, 2, 1]);
  for (const touched of [touch({ events: ['a'] }), touch({ email: true }), touch({ events: ['paid'] })])
    expect(numbersOf(model.touchedBy(touched))).toEqual([3, 2, 1]);
  expect(numbersOf(model.touchedBy(touch({ traits: ['b', 'c'] })))).toEqual([2, 1]);
  const first = model.byNumber.get(1);
  expect(first).toMatchObject({ timed: true, references: new Map([[idOf(2), 2]]) });
  expect([...(first?.mentions.questions.keys() ?? [])]).toHaveLength(1);
  expect([...(first?.mentions.totals ?? [])]).toEqual(['paid']);
  expect([...model.totals]).toEqual(['paid']);
});

test('resolves references of served editions to served ones, and of editions being built to those being built where there are any', () => {
  const served = source(ofTrait('a'), { edition: 1 });
  const next = source(ofTrait('b'), { edition: 2, audienceId: served.audienceId, state: 'building' });
  const fresh = source(ofTrait('c'), { edition: 3, state: 'building' });
  const ofServed = source(inAudience(1), { edition: 4 });
  const again = source(inAudience(1), { edition: 5, audienceId: ofServed.audienceId, state: 'building' });
  const ofFresh = source({ all: [inAudience(3), inAudience(4)] }, { edition: 6, state: 'building' });
  const model = buildModel([served, next, fresh, ofServed, again, ofFresh]);
  expect(model.editionFor(idOf(1))?.edition).toBe(1);
  expect(model.editionFor(idOf(3))?.edition).toBe(3);
  expect(model.editionFor(idOf(9))).toBeUndefined();
  const asked = [4, 5, 6].map((edition) => [...(model.byNumber.get(edition)?.references.values() ?? [])]);
  expect(asked).toEqual([[1], [2], [3, 5]]);
  // Both are kept up to date while the new one is built.
  expect(numbersOf(model.touchedBy(touch({ traits: ['a'] })))).toEqual([1, 4]);
  expect(numbersOf(model.touchedBy(touch({ traits: ['b'] })))).toEqual([2, 5, 6]);
});

test('evaluates a new user only for editions that hold for an unknown user', () => {
  const model = buildModel([
    source({ not: ofTrait('plan') }, { edition: 1 }),
    source(ofTrait('plan'), { edition: 2 }),
    source({ all: [inAudience(1), { not: inAudience(2) }] }, { edition: 3 }),
    source(inAudience(2), { edition: 4 }),
    source({ event: 'login', at_most: 2 }, { edition: 5 }),
    source({ event: 'login', exactly: 0, within: '7d' }, { edition: 6 }),
  ]);
  expect(numbersOf(model.blankTrue)).toEqual([1, 3, 5, 6]);
  expect(numbersOf(model.touchedBy(touch({ isNew: true })))).toEqual([1, 3, 5, 6]);
  expect(numbersOf(model.touchedBy(touch({ isNew: false })))).toEqual([]);
});

test('covers the users up to `builtTo` in byte order while an edition is being built', () => {
  const building = source(ofTrait('a'), { state: 'building', builtTo: 'u\u{FFFD}' });
  expect(covers(building, 'u')).toBe(true);
  expect(covers(building, 'u\u{FFFD}')).toBe(true);
  expect(covers(building, 'u😀')).toBe(false);
  expect(covers({ ...building, builtTo: null }, '')).toBe(false);
  expect(covers({ ...building, state: 'served', builtTo: null }, 'zzz')).toBe(true);
});

test('throws on a circular reference, which no flow accepts', () => {
  const circle = [source(inAudience(2), { edition: 1 }), source(inAudience(1), { edition: 2 })];
  expect(() => buildModel(circle)).toThrow('refers to itself');
});
