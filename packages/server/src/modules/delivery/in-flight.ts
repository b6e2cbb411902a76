import type { Log } from '../../platform/log.ts';
import type { ClaimedEmail } from './compose-email.ts';
import type { Transport } from './transport.ts';

type OnItsWay = Pick<ClaimedEmail, 'projectId' | 'draftId'>;

/** The claimed emails of this process that have no recorded result yet. */
export type InFlight = {
  /** Returns how many more emails can be claimed now. */
  capacity(): number;
  /** Returns whether any email has no recorded result yet. */
  isBusy(): boolean;
  /** Does the work for each of the emails. It never rejects. */
  run<T extends OnItsWay>(emails: T[], work: (email: T) => Promise<void>): Promise<void>;
};

export function createInFlight(
  slots: number,
  { transport, log }: { transport: Transport; log: Log },
): InFlight {
  const pace = createPace(slots);
  let count = 0;

  async function runOne<T extends OnItsWay>(email: T, work: (email: T) => Promise<void>): Promise<void> {
    try {
      await work(email);
    } catch (error) {
      // It is unknown whether a failed submission was committed. When its lease expires, the email counts as lost or is tried again.
      const { projectId, draftId } = email;
      log.error({ project_id: projectId, draft_id: draftId, err: error }, 'email.not_submitted');
    } finally {
      count -= 1;
      pace.note();
    }
  }

  return {
    capacity() {
      if (transport.isDoubtful?.() === true) return count === 0 ? 1 : 0;
      const free = slots + pace.ahead() - count;
      // A claim costs as much for one email as for twenty.
      return free * 2 >= slots + pace.ahead() ? free : 0;
    },
    isBusy: () => count > 0,
    async run(emails, work) {
      count += emails.length;
      await Promise.all(emails.map((email) => runOne(email, work)));
    },
  };
}

const SECONDS = 3;
const OF_EACH_SLOT = 4;
const MOST = 500;

type Pace = { note(): void; ahead(): number };

/**
 * Limits how many emails may wait for a slot to as many as the last seconds show can be sent in that time. A large claim is cheap per
 * email, but claimed emails belong to this process, so no other process can send them.
 */
function createPace(slots: number): Pace {
  const now = (): number => performance.now();
  const counts = new Map<number, number>();
  return {
    note() {
      const second = Math.floor(now() / 1_000);
      counts.set(second, (counts.get(second) ?? 0) + 1);
      for (const old of counts.keys()) if (old < second - SECONDS) counts.delete(old);
    },
    ahead() {
      const second = Math.floor(now() / 1_000);
      let total = 0;
      for (const [at, count] of counts) if (at >= second - SECONDS) total += count;
      return Math.min(MOST, Math.max(slots * OF_EACH_SLOT, total));
    },
  };
}
