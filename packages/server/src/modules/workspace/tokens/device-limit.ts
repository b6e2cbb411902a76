import { networksOf } from '../../../platform/net/network-address.ts';

/** The maximum number of codes that wait for a decision, across all callers. Anyone may request one, and each is a row. */
export const WAITING_MAX = 1_000;
/** The number of codes dropped at once, so that a flood does not cause all of them to be read for each request. */
export const DROPPED_AT_ONCE = 50;

export type WaitingCode = { codeHash: Buffer; address: string };

/**
 * Chooses the waiting codes to drop for new ones; `codes` come oldest first.
 *
 * Each is the oldest code of the network that is busiest at that point. This is the busiest network within the widest network with the most
 * codes, and so on. A client that requests many codes from many networks drops its own. This holds while it controls fewer wide networks
 * than there is space for codes.
 */
export function codesToDrop(codes: readonly WaitingCode[], count: number): WaitingCode[] {
  let remaining = codes.map((code) => ({ code, networks: networksOf(code.address) }));
  const dropped: WaitingCode[] = [];
  while (dropped.length < count) {
    const next = oldestOfBusiest(remaining);
    if (!next) break;
    dropped.push(next.code);
    remaining = remaining.filter((candidate) => candidate !== next);
  }
  return dropped;
}

type Placed = { code: WaitingCode; networks: string[] };

function oldestOfBusiest(codes: Placed[]): Placed | undefined {
  let busiest = codes;
  for (let depth = 0; busiest.some(({ networks }) => depth < networks.length); depth += 1) {
    const groups = Map.groupBy(busiest, ({ networks }) => networks[depth] ?? '');
    // If networks have equally many codes, the one with the oldest code: `groupBy` keeps the order of first appearance.
    busiest = [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most));
  }
  return busiest[0];
}
