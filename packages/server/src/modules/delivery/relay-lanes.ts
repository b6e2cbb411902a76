import { createSlots, type Slots } from '../../platform/async/slots.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Log } from '../../platform/log.ts';
import { connectionKey, hasAssignments, type RelayRef } from '../sending/index.ts';
import type { Blocked, Room } from './draft-batch.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import type { OpenRelayTransport, Transport } from './transport.ts';

/** The emails of one relay on their way, so that a slow or failing relay takes nothing from the others. */
export type Lane = {
  transport: Transport;
  inFlight: InFlight;
  slots: Slots;
  /** Held from the submission of an email until its result is recorded. */
  unsettled: Slots;
};

export type Lanes = Room & {
  /** Null: the relay of `SMTP_URL`. A lane is opened when it is first needed, and closed when it was not needed for a while. */
  laneOf(relay: RelayRef | null): Lane;
  /** Looks up whether relays are assigned at all. Without them there is only one lane. */
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

export type LanesOptions = {
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
/** A lane that is opened now has this capacity at least. */
const NEW_LANE_CAPACITY = 20;
/** The relay of a project may have changed since it was found to be blocked. */
const BLOCKED_FOR_MS = 5_000;
const PROJECTS_REMEMBERED = 10_000;

type OpenLane = Lane & { usedAt: number };

export function createLanes(options: LanesOptions): Lanes {
  const { db, log, now, openRelayTransport } = options;
  const first = openLane(options.transport, log);
  const lanes = new Map<string, OpenLane>();
  let hasRelays = false;
  let refreshedAt = -Infinity;

  function laneOf(relay: RelayRef | null): Lane {
    if (relay === null || !openRelayTransport) return first;
    const key = connectionKey(relay);
    const lane = lanes.get(key) ?? { ...openLane(openRelayTransport(relay), log), usedAt: 0 };
    lane.usedAt = performance.now();
    lanes.set(key, lane);
    return lane;
  }

  function closeUnused(): void {
    const since = performance.now() - UNUSED_FOR_MS;
    for (const [key, lane] of lanes) {
      if (lane.usedAt >= since || lane.inFlight.isBusy()) continue;
      lanes.delete(key);
      void lane.transport.close?.();
    }
  }

  const closedUntilOf = ({ transport }: Lane): number | null => transport.closedUntil?.(now()) ?? null;
  const capacity = (): number =>
    hasRelays
      ? Math.max(NEW_LANE_CAPACITY, ...[first, ...lanes.values()].map(({ inFlight }) => inFlight.capacity()))
      : first.inFlight.capacity();

  return {
    laneOf,
    capacity,
    get most() {
      return capacity();
    },
    of(relay) {
      const lane = laneOf(relay);
      return { capacity: lane.inFlight.capacity(), closedUntil: closedUntilOf(lane) };
    },
    async refresh() {
      if (!openRelayTransport || performance.now() - refreshedAt < REFRESH_EVERY_MS) return;
      refreshedAt = performance.now();
      hasRelays = await hasAssignments(db);
      closeUnused();
    },
    closedUntil: () => (hasRelays ? null : closedUntilOf(first)),
    ...rememberBlocked(laneOf, (lane) => closedUntilOf(lane) !== null || lane.inFlight.capacity() === 0),
  };
}

/** Remembers the lanes that keep a project from sending, so that no transaction finds out again a moment later. */
function rememberBlocked(
  laneOf: (relay: RelayRef | null) => Lane,
  isFull: (lane: Lane) => boolean,
): Pick<Lanes, 'noteBlocked' | 'isBlocked'> {
  const projects = new Map<number, { lanes: Lane[]; until: number }>();
  return {
    noteBlocked(projectId, blocked) {
      projects.delete(projectId);
      if (blocked.length === 0 || projects.size >= PROJECTS_REMEMBERED) return;
      const until = performance.now() + BLOCKED_FOR_MS;
      projects.set(projectId, { lanes: blocked.map(({ relay }) => laneOf(relay)), until });
    },
    isBlocked(projectId) {
      const known = projects.get(projectId);
      if (!known) return false;
      const isStill = known.until > performance.now() && known.lanes.every(isFull);
      if (!isStill) projects.delete(projectId);
      return isStill;
    },
  };
}

function openLane(transport: Transport, log: Log): Lane {
  const slots = transport.slots ?? SLOTS;
  return {
    transport,
    inFlight: createInFlight(slots, { transport, log }),
    slots: createSlots(slots),
    unsettled: createSlots(slots * UNSETTLED_OF_EACH),
  };
}
