import { recentMap } from '../../../platform/async/recent-map.ts';
import type { MailDoor } from '../../../platform/mail/listener.ts';
import { addressGroup } from '../../../platform/net/address-group.ts';

export type DoorOptions = {
  now: () => number;
  /** Returns whether mail to this address is accepted. */
  isKnown: (address: string) => boolean;
  /** Returns whether this is a proxy of ours: it brings the mail of all others, and is not limited. */
  isNear: (remote: string) => boolean;
};

/** Per address, or per IPv6 network. */
const CONNECTIONS_MAX = 20;
/** Over all other clients, so that a proxy of ours always finds a free connection. */
const STRANGERS_MAX = 800;
export const CLIENTS_MAX = 1_000;
const PER_MINUTE = 600;
const REMEMBERED = 20_000;
const MINUTE_MS = 60_000;

/**
 * Limits how often a client may connect, and which recipients it may name. Any other recipient is refused before the body of the mail is
 * read.
 */
export function createDoor({ now, isKnown, isNear }: DoorOptions): MailDoor {
  const connected = new Map<string, number>();
  let strangers = 0;
  const allowed = recentMap<{ left: number; at: number }>(REMEMBERED);

  function mayAsk(place: string): boolean {
    const at = now();
    const known = allowed.get(place) ?? { left: PER_MINUTE, at };
    const left = Math.min(PER_MINUTE, known.left + (Math.max(0, at - known.at) * PER_MINUTE) / MINUTE_MS);
    allowed.set(place, { left: Math.max(0, left - 1), at });
    return left >= 1;
  }

  return {
    connects(remote) {
      const place = addressGroup(remote);
      const count = connected.get(place) ?? 0;
      const isStrange = !isNear(remote);
      if (isStrange && count >= CONNECTIONS_MAX)
        return { code: 421, text: '4.7.0 Too many connections from your address, try again later' };
      if (isStrange && strangers >= STRANGERS_MAX)
        return { code: 421, text: '4.7.0 Too many connections, try again later' };
      if (isStrange) strangers += 1;
      connected.set(place, count + 1);
      return null;
    },
    leaves(remote) {
      if (!isNear(remote)) strangers -= 1;
      const place = addressGroup(remote);
      const count = (connected.get(place) ?? 1) - 1;
      if (count > 0) connected.set(place, count);
      else connected.delete(place);
    },
    writesTo(address, remote) {
      const place = addressGroup(remote);
      if (!isNear(remote) && !mayAsk(place))
        return { code: 451, text: '4.7.1 Too many requests from your address, try again later' };
      return isKnown(address) ? null : { code: 550, text: '5.1.1 No such address here' };
    },
  };
}
