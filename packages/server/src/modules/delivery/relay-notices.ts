import { hardBounceReply } from './apply-refusals.ts';
import type { RelayFailure } from './record-results.ts';
import type { EmailResult } from './transport.ts';

/**
 * Remembers the last answer that each project got, in this process. The emails of one project decide whether a reply is about our side. But
 * a paused relay serves no project, so a few dead addresses of one project must not stop the others.
 */
export type RelayReplies = {
  note(results: EmailResult[]): void;
  /** Returns true if at least half of the other projects got this reply too, or no other project sends. */
  isShared(failure: RelayFailure): boolean;
};

/** Longer than a pause of the relay. So a project that waited for the relay and was then served counts before the next pause. */
const RECENT_MS = 60 * 60_000;

export function createRelayReplies(now: () => number): RelayReplies {
  /** The project with the newest answer comes last. `text`: null if it was not a hard bounce. */
  const last = new Map<number, { text: string | null; at: number }>();

  function forget(): void {
    const since = now() - RECENT_MS;
    for (const [projectId, { at }] of last) {
      if (at >= since) break;
      last.delete(projectId);
    }
  }

  return {
    note(results) {
      for (const { email, sendResult } of results) {
        // An email that was not handed to the relay says nothing about it.
        const isReply =
          sendResult.result === 'sent' || (sendResult.result === 'failed' && sendResult.bounce !== undefined);
        if (!isReply) continue;
        last.delete(email.projectId);
        last.set(email.projectId, { text: hardBounceReply(sendResult), at: now() });
      }
      forget();
    },
    isShared({ projectId, text }) {
      forget();
      const others = [...last].filter(([other]) => other !== projectId);
      return others.filter(([, entry]) => entry.text === text).length * 2 >= others.length;
    },
  };
}
