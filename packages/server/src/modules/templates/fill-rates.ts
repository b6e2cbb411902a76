import type { Tx } from '../../platform/db/statements.ts';
import { countFilled } from './reads.ts';

/** The share of users who have a value, from 0 to 1, by trait, and separately for `email`. */
export type FillRates = { people: number; traits: Map<string, number>; email: number };

/** The maximum number of users that are read. */
const PEOPLE_MAX = 10_000;
const TRAITS_MAX = 200;
const [PEOPLE, EMAIL] = [' people', ' email'];

/** `traits`: traits that are always included in the result. */
export async function fillRates(tx: Tx, projectId: number, traits: string[]): Promise<FillRates> {
  const limit = TRAITS_MAX + traits.length;
  const rows = await countFilled(tx, { projectId, people: PEOPLE_MAX, asked: traits, limit });
  const counts = new Map(rows.map(({ key, filled }) => [key, filled]));
  const people = counts.get(PEOPLE) ?? 0;
  const share = (key: string): number => (people === 0 ? 0 : (counts.get(key) ?? 0) / people);
  const names = [...counts.keys()].filter((key) => key !== PEOPLE && key !== EMAIL);
  return {
    people,
    traits: new Map([...traits, ...names].map((name) => [name, share(name)])),
    email: share(EMAIL),
  };
}
