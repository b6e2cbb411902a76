import { createSlots, type Slots } from '../../platform/async/slots.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Log } from '../../platform/log.ts';
import { connectionKey, hasAssignments, type RelayRef } from '../sending/index.ts';
import type { Blocked, Room } from './draft-batch.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import type { OpenRelayTransport, Transport } from './transport.ts';

/** The emails of one relay on their way, so that a slow or failing relay takes nothing from the others. */
export type Channel = {
  transport: Transport;
  inFlight: InFlight;
  slots: Slots;
  /** Held from the submission of an email until its result is recorded. */
  unsettled: Slots;
};

export type Channels = Room & {
  /** Null: the relay of `SMTP_URL`. A channel is opened when it is first needed, and closed when it was not needed for a while. */
  channelOf(relay: RelayRef | null): Channel;
  /** Looks up whether relays are assigned at all. Without them there is only one channel. */
  refresh(): Promise<void>;
  /** Returns when emails can be sent again, if no relay accepts any; else null. */
  closedUntil(): number | null;
  /** Returns how many more emails can be claimed now for any relay. */
  capacity(): number;
  /** Remembers that a claim found all due drafts of a project blocked. */
  noteBlocked(projectId: number, blocked: Blocked[]): void;
  /** Returns whether drafts of the project would still be blocked, without a query. */
  isBlocked(projectId: number): boolean;
};

export type ChannelsOptions = {
  db: Tx;
  log: Log;
  now: () => number;
  transport: Transport;
  /** Absent: there is no relay but the one of `transport`. */
  openRelayTransport?: OpenRelayTransport | undefined;
};

const SLOTS = 5;
/** Submitted emails per slot: while one is being sent, the result of another is recorded. */
const UNSETTLED_OF_EACH = 2;
const REFRESH_EVERY_MS = 2_000;
const UNUSED_FOR_MS = 10 * 60_000;
/** A channel that is opened now has this capacity at least. */
const NEW_CHANNEL_CAPACITY = 20;
/** The relay of a project may have changed since it was found to be blocked. */
const BLOCKED_FOR_MS = 5_000;
const PROJECTS_REMEMBERED = 10_000;

type OpenChannel = Channel & { usedAt: number };

export function createChannels(options: ChannelsOptions): Channels {
  const { db, log, now, openRelayTransport } = options;
  const first = openChannel(options.transport, log);
  const channels = new Map<string, OpenChannel>();
  let hasRelays = false;
  let refreshedAt = -Infinity;

  function channelOf(relay: RelayRef | null): Channel {
    if (relay === null || !openRelayTransport) return first;
    const key = connectionKey(relay);
    const channel = channels.get(key) ?? { ...openChannel(openRelayTransport(relay), log), usedAt: 0 };
    channel.usedAt = performance.now();
    channels.set(key, channel);
    return channel;
  }

  function closeUnused(): void {
    const since = performance.now() - UNUSED_FOR_MS;
    for (const [key, channel] of channels) {
      if (channel.usedAt >= since || channel.inFlight.isBusy()) continue;
      channels.delete(key);
      void channel.transport.close?.();
    }
  }

  const closedUntilOf = ({ transport }: Channel): number | null => transport.closedUntil?.(now()) ?? null;
  const capacity = (): number =>
    hasRelays
      ? Math.max(
          NEW_CHANNEL_CAPACITY,
          ...[first, ...channels.values()].map(({ inFlight }) => inFlight.capacity()),
        )
      : first.inFlight.capacity();

  return {
    channelOf,
    capacity,
    get most() {
      return capacity();
    },
    of(relay) {
      const channel = channelOf(relay);
      return { capacity: channel.inFlight.capacity(), closedUntil: closedUntilOf(channel) };
    },
    async refresh() {
      if (!openRelayTransport || performance.now() - refreshedAt < REFRESH_EVERY_MS) return;
      refreshedAt = performance.now();
      hasRelays = await hasAssignments(db);
      closeUnused();
    },
    closedUntil: () => (hasRelays ? null : closedUntilOf(first)),
    ...rememberBlocked(
      channelOf,
      (channel) => closedUntilOf(channel) !== null || channel.inFlight.capacity() === 0,
    ),
  };
}

/** Remembers the channels that keep a project from sending, so that no transaction finds out again a moment later. */
function rememberBlocked(
  channelOf: (relay: RelayRef | null) => Channel,
  isFull: (channel: Channel) => boolean,
): Pick<Channels, 'noteBlocked' | 'isBlocked'> {
  const projects = new Map<number, { channels: Channel[]; until: number }>();
  return {
    noteBlocked(projectId, blocked) {
      projects.delete(projectId);
      if (blocked.length === 0 || projects.size >= PROJECTS_REMEMBERED) return;
      const until = performance.now() + BLOCKED_FOR_MS;
      projects.set(projectId, { channels: blocked.map(({ relay }) => channelOf(relay)), until });
    },
    isBlocked(projectId) {
      const known = projects.get(projectId);
      if (!known) return false;
      const isStill = known.until > performance.now() && known.channels.every(isFull);
      if (!isStill) projects.delete(projectId);
      return isStill;
    },
  };
}

function openChannel(transport: Transport, log: Log): Channel {
  const slots = transport.slots ?? SLOTS;
  return {
    transport,
    inFlight: createInFlight(slots, { transport, log }),
    slots: createSlots(slots),
    unsettled: createSlots(slots * UNSETTLED_OF_EACH),
  };
}
