import { expect, test } from 'vitest';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import { buildModel, type AudienceVersionSource, type Touch } from './model.ts';
import { covers } from '../processing/evaluate-membership.ts';

let numbers = 0;
/** An audience whose id ends with the number of its version. */
function source(definition: unknown, more: Partial<AudienceVersionSource> = {}): AudienceVersionSource {
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const versionId = more.versionId ?? (numbers += 1);
  return {
    versionId,
    audienceId: idOf(versionId),
    name: `audience ${versionId}`,
    state: 'served',
    builtTo: null,
    built: 0,
    predicate: parsed.predicate,
    ...more,
  };
}

const idOf = (versionId: number): string => `00000000-0000-7000-8000-${String(versionId).padStart(12, '0')}`;
const touch = (more: Partial<Touch>): Touch => ({
  isNew: false,
  events: [],
  traits: [],
  email: false,
  ...more,
});
const numbersOf = (versions: readonly { versionId: number }[]): number[] =>
  versions.map(({ versionId }) => versionId);

const ofTrait = (trait: string) => ({ trait, equals: 'x' });
const ofEvent = (event: string) => ({ event, at_least: 1, within: '7d' });
const inAudience = (versionId: number) => ({ audience: idOf(versionId) });

test('returns only the versions that mention the touched trait or event, among 500', () => {
  const sources = Array.from({ length: 500 }, (_, i) =>
    source(i % 2 === 0 ? ofTrait(`trait_${i}`) : ofEvent(`event_${i}`), { versionId: i + 1 }),
  );
  const model = buildModel(sources);
  expect(numbersOf(model.touchedBy(touch({ traits: ['trait_100'], events: ['event_7'] })))).toEqual([8, 101]);
  expect(model.touchedBy(touch({ traits: ['other'], events: ['other'], email: true, isNew: true }))).toEqual(
    [],
  );
});

test('looks only at the versions that the touch names, whatever their total number', () => {
  const sources = Array.from({ length: 500 }, (_, i) => source(ofTrait(`trait_${i}`), { versionId: i + 1 }));
  const model = buildModel(sources);
  let looked = 0;
  for (const version of model.versions)
    Object.defineProperty(version, 'mentions', { get: () => ((looked += 1), undefined) });
  expect(numbersOf(model.touchedBy(touch({ traits: ['trait_3'] })))).toEqual([4]);
  expect(looked).toBe(0);
});

test('orders a version after those it refers to, and touches it with whatever touches them', () => {
  const model = buildModel([
    source({ all: [inAudience(2), ofTrait('c')] }, { versionId: 1 }),
    source({ any: [inAudience(3), ofTrait('b')] }, { versionId: 2 }),
    source(
      { all: [ofEvent('a'), { user: 'email', is_set: true }, { event: 'paid', at_least: 2 }] },
      { versionId: 3 },
    ),
  ]);
  expect(numbersOf(model.versions)).toEqual([3, 2, 1]);
  for (const touched of [touch({ events: ['a'] }), touch({ email: true }), touch({ events: ['paid'] })])
    expect(numbersOf(model.touchedBy(touched))).toEqual([3, 2, 1]);
  expect(numbersOf(model.touchedBy(touch({ traits: ['b', 'c'] })))).toEqual([2, 1]);
  const first = model.byId.get(1);
  expect(first).toMatchObject({ timed: true, references: new Map([[idOf(2), 2]]) });
  expect([...(first?.mentions.queries.keys() ?? [])]).toHaveLength(1);
  expect([...(first?.mentions.totals ?? [])]).toEqual(['paid']);
  expect([...model.totals]).toEqual(['paid']);
});

test('resolves references of served versions to served ones, and of versions being built to those being built where there are any', () => {
  const served = source(ofTrait('a'), { versionId: 1 });
  const next = source(ofTrait('b'), { versionId: 2, audienceId: served.audienceId, state: 'building' });
  const fresh = source(ofTrait('c'), { versionId: 3, state: 'building' });
  const ofServed = source(inAudience(1), { versionId: 4 });
  const again = source(inAudience(1), { versionId: 5, audienceId: ofServed.audienceId, state: 'building' });
  const ofFresh = source({ all: [inAudience(3), inAudience(4)] }, { versionId: 6, state: 'building' });
  const model = buildModel([served, next, fresh, ofServed, again, ofFresh]);
  expect(model.versionFor(idOf(1))?.versionId).toBe(1);
  expect(model.versionFor(idOf(3))?.versionId).toBe(3);
  expect(model.versionFor(idOf(9))).toBeUndefined();
  const references = [4, 5, 6].map((versionId) => [
    ...(model.byId.get(versionId)?.references.values() ?? []),
  ]);
  expect(references).toEqual([[1], [2], [3, 5]]);
  // Both are kept up to date while the new one is built.
  expect(numbersOf(model.touchedBy(touch({ traits: ['a'] })))).toEqual([1, 4]);
  expect(numbersOf(model.touchedBy(touch({ traits: ['b'] })))).toEqual([2, 5, 6]);
});

test('evaluates a new user only for versions that hold for an unknown user', () => {
  const model = buildModel([
    source({ not: ofTrait('plan') }, { versionId: 1 }),
    source(ofTrait('plan'), { versionId: 2 }),
    source({ all: [inAudience(1), { not: inAudience(2) }] }, { versionId: 3 }),
    source(inAudience(2), { versionId: 4 }),
    source({ event: 'login', at_most: 2 }, { versionId: 5 }),
    source({ event: 'login', exactly: 0, within: '7d' }, { versionId: 6 }),
  ]);
  expect(numbersOf(model.blankTrue)).toEqual([1, 3, 5, 6]);
  expect(numbersOf(model.touchedBy(touch({ isNew: true })))).toEqual([1, 3, 5, 6]);
  expect(numbersOf(model.touchedBy(touch({ isNew: false })))).toEqual([]);
});

test('covers the users up to `builtTo` in byte order while a version is being built', () => {
  const building = source(ofTrait('a'), { state: 'building', builtTo: 'u\u{FFFD}' });
  expect(covers(building, 'u')).toBe(true);
  expect(covers(building, 'u\u{FFFD}')).toBe(true);
  expect(covers(building, 'u😀')).toBe(false);
  expect(covers({ ...building, builtTo: null }, '')).toBe(false);
  expect(covers({ ...building, state: 'served', builtTo: null }, 'zzz')).toBe(true);
});

test('throws on a circular reference, which no flow accepts', () => {
  const circle = [source(inAudience(2), { versionId: 1 }), source(inAudience(1), { versionId: 2 })];
  expect(() => buildModel(circle)).toThrow('refers to itself');
});
