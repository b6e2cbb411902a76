import { networksOf } from '../../base/address-group.ts';

/** How many codes may wait for a decision at once, of all callers. Anybody may ask for one, and each is a row. */
export const WAITING_MAX = 1_000;
/** How many codes make room at once, so that a flood does not have all of them read for each of its requests. */
export const DROPPED_AT_ONCE = 50;

export type WaitingCode = { codeHash: Buffer; address: string };

/**
 * Chooses the waiting codes that make room for new ones; `codes` come oldest first.
 *
 * Each is the oldest code of the network that is busiest then: of the widest network with the most codes, then of the
 * busiest network within that, and so on. Whoever asks for many codes from many networks drops their own, as long as they
 * control fewer wide networks than there is room for codes.
 */
export function codesToDrop(codes: readonly WaitingCode[], count: number): WaitingCode[] {
  let left = codes.map((code) => ({ code, networks: networksOf(code.address) }));
  const dropped: WaitingCode[] = [];
  while (dropped.length < count) {
    const next = oldestOfBusiest(left);
    if (!next) break;
    dropped.push(next.code);
    left = left.filter((one) => one !== next);
  }
  return dropped;
}

type Placed = { code: WaitingCode; networks: string[] };

function oldestOfBusiest(codes: Placed[]): Placed | undefined {
  let busiest = codes;
  for (let depth = 0; busiest.some(({ networks }) => depth < networks.length); depth += 1) {
    const groups = Map.groupBy(busiest, ({ networks }) => networks[depth] ?? '');
    // Of networks with equally many codes the one with the oldest code: `groupBy` keeps the order of first appearance.
    busiest = [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most));
  }
  return busiest[0];
}
