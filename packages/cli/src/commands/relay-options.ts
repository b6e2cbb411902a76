import type { Relay } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Context } from '../framework/context.ts';

export const RELAYS = 'GET /projects/:project/relays';

/** Finds a relay by its id, or else by its name. */
export async function findRelay({ api }: Context<typeof RELAYS>, text: string): Promise<Relay> {
  const { data } = await api.call(RELAYS, {});
  const found = data.find(({ id }) => id === text) ?? data.find(({ name }) => name === text);
  if (found) return found;
  throw new Failure('not_found', `Unknown relay ${text}. List relays with: beckon relays list`);
}
