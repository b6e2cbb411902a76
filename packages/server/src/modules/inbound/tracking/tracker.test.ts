import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admit } from './tracker.ts';
import { type HitFacts, HITS_MAX, classifyHit, type StoredHit } from './hits.ts';

const hit = (more: Partial<HitFacts> = {}): HitFacts => ({
  kind: 'open',
  link: null,
  at: 0,
  signs: [],
  agent: 'x',
  remote: 'y',
  ...more,
});
const bot = (at: number): HitFacts => hit({ at, signs: ['bot'] });
const click = (link: number, at = 0): HitFacts => hit({ kind: 'click', link, at });
/** Returns the stored hits afterwards, as the table would hold them. */
function after(kept: StoredHit[], arriving: HitFacts[]): StoredHit[] {
  const slots = new Map(kept.map((entry) => [entry.number, entry]));
  for (const entry of admit(kept, arriving)) slots.set(entry.number, { ...entry, bot: null });
  return [...slots.values()];
}
const many = (count: number, make: (at: number) => HitFacts): HitFacts[] =>
  Array.from({ length: count }, (_, at) => make(at));

describe('admit', () => {
  test('stores the first hundred hits as they come', () => {
    expect(after([], many(99, bot)).map(({ number }) => number)).toEqual(
      many(99, bot).map((_, at) => at + 1),
    );
    expect(after([], many(500, bot))).toHaveLength(HITS_MAX);
  });

  test('stores a human hit after a flood of bot hits, both before and after they are classified', () => {
    const flooded = after([], many(5_000, bot));
    expect(after(flooded, [hit({ at: 6_000 })])).toContainEqual(
      expect.objectContaining({ at: 6_000, signs: [] }),
    );
    const judged = flooded.map((entry) => ({ ...entry, bot: 'yes' as const }));
    const later = after(judged, [hit({ at: 6_000 })]);
    expect(later).toHaveLength(HITS_MAX);
    expect(later).toContainEqual(expect.objectContaining({ at: 6_000 }));
    expect(later).not.toContainEqual(expect.objectContaining({ at: 0 }));
  });

  test('stores the first click after a flood of opens, and the first click on one link after a flood on another', () => {
    const flooded = after(
      [],
      many(5_000, (at) => hit({ at })),
    );
    const clicked = after(flooded, [...many(3_000, (at) => click(0, at)), click(7, 9_000)]);
    expect(clicked).toHaveLength(HITS_MAX);
    expect(clicked.filter(({ link }) => link === 7)).toHaveLength(1);
    expect(clicked.filter(({ kind }) => kind === 'open').length).toBeGreaterThan(40);
  });

  test('prefers a hit that looks human over bots when a hundred kinds await classification', () => {
    const scanned = after(
      [],
      many(100, (at) => ({ ...click(at, at), signs: ['bot'] as const })),
    );
    const person = after(scanned, [click(5, 500)]);
    expect(person).toHaveLength(HITS_MAX);
    expect(person).toContainEqual(expect.objectContaining({ link: 5, signs: [] }));
  });
});

const facts = fc
  .record({
    kind: fc.constantFrom('open', 'click', 'trap'),
    link: fc.nat(20),
    at: fc.nat(10_000),
    signs: fc.constantFrom<HitFacts['signs']>([], [], ['bot'], ['bare_agent'], ['image_proxy']),
  })
  .map(({ kind, link, ...fields }) =>
    hit({ ...fields, kind: kind as HitFacts['kind'], link: kind === 'click' ? link : null }),
  );
const profileOf = (hitFacts: HitFacts): string =>
  `${hitFacts.kind} ${hitFacts.link} ${classifyHit(hitFacts).bot}`;

test('stores at most a hundred hits, and one of each kind until it is classified, for any number and order', () => {
  const rounds = fc.array(fc.array(facts, { maxLength: 150 }), { maxLength: 5 });
  fc.assert(
    fc.property(rounds, (all) => {
      let kept: StoredHit[] = [];
      for (const round of all) kept = after(kept, round);
      expect(kept.length).toBe(Math.min(HITS_MAX, all.flat().length));
      expect(new Set(kept.map(({ number }) => number)).size).toBe(kept.length);
      expect(new Set(kept.map(profileOf))).toEqual(new Set(all.flat().map(profileOf)));
    }),
    { numRuns: 100 },
  );
});

test('stores the same hits in the same slots for the same input', () => {
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 300 }), (hits) => {
      expect(admit([], hits)).toEqual(admit([], hits));
    }),
    { numRuns: 30 },
  );
});
