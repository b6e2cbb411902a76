import { type AdmittedHit, type HitFacts, HITS_MAX, type KeptHit, judgeAlone } from '../../outcomes/index.ts';

/**
 * Decides which arriving hits are stored, and in which slot. If all slots are taken, a hit replaces the oldest classified one, whose
 * outcome is already stored. If all still await classification, it replaces the newest hit of the most frequent kind. So a flood of one
 * kind never hides the first hit of another. A kind is a combination of link and apparent origin, so a human in the middle of a flood is
 * seen.
 */
export function admit(kept: readonly KeptHit[], arriving: readonly HitFacts[]): AdmittedHit[] {
  const places = new Map<number, Placed>(
    kept.map((hit) => [hit.number, { hit, look: lookOf(hit), isJudged: hit.bot !== null }]),
  );
  const admitted = new Map<number, AdmittedHit>();
  for (const hit of arriving) {
    const look = lookOf(hit);
    const number = places.size < HITS_MAX ? firstFree(places) : placeFor(look, places);
    if (number === null) continue;
    places.set(number, { hit, look, isJudged: false });
    admitted.set(number, { ...hit, number });
  }
  return [...admitted.values()];
}

type Placed = { hit: HitFacts; look: Look; isJudged: boolean };
/** The kind of a hit, and whether it is human by itself. */
type Look = { name: string; isHuman: boolean };

function lookOf(hit: HitFacts): Look {
  const { bot } = judgeAlone(hit);
  return { name: `${hit.kind} ${hit.link} ${bot}`, isHuman: hit.kind !== 'trap' && bot === 'no' };
}

function firstFree(places: Map<number, Placed>): number {
  // Numbers are assigned without gaps, but rows may have been changed by hand.
  for (let number = places.size + 1; number >= 1; number -= 1)
    if (number <= HITS_MAX && !places.has(number)) return number;
  throw new Error('no slot is free');
}

function placeFor(look: Look, places: Map<number, Placed>): number | null {
  const taken = [...places].map(([number, placed]) => ({ number, ...placed }));
  const judged = taken.filter(({ isJudged }) => isJudged);
  if (judged.length > 0)
    return judged.reduce((oldest, one) => (one.hit.at < oldest.hit.at ? one : oldest)).number;
  const looks = Map.groupBy(taken, (one) => one.look.name);
  const own = looks.get(look.name)?.length ?? 0;
  const most = [...looks.values()].reduce((most, some) => (some.length > most.length ? some : most));
  if (most.length > own + 1 || (own === 0 && most.length > 1)) return newest(most);
  const machines = taken.filter((one) => !one.look.isHuman && one.hit.kind !== 'trap');
  return look.isHuman && own === 0 && machines.length > 0 ? newest(machines) : null;
}

function newest(placed: (Placed & { number: number })[]): number {
  const [first, ...rest] = placed;
  if (!first) throw new Error('there is nothing to choose from');
  return rest.reduce((last, one) => (one.hit.at > last.hit.at ? one : last), first).number;
}
