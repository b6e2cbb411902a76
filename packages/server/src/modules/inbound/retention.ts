import { forgetRaw, forgetReplies } from './replies/store.ts';
import { forgetKnownEmails } from './reply-sources/store.ts';
import { forgetAgents, forgetLinks } from './tracking/store.ts';

const DAY_MS = 86_400_000;

/** What inbound deletes after a time: that of a setting of the project, or a fixed one. */
export const inboundRetention = [
  { keptMs: 'keepEmailsMs', forget: forgetReplies },
  // Without the email that it was about, a repeated email has no effect.
  { keptMs: 'keepEmailsMs', forget: forgetKnownEmails },
  // Users follow links in emails that they find again a year later.
  { keptMs: 366 * DAY_MS, forget: forgetLinks },
  // The client of a hit is useful while its classification is recent.
  { keptMs: 30 * DAY_MS, forget: forgetAgents },
  // A reply that could not be forwarded within this time is only shown here, without its attachments.
  { keptMs: 30 * DAY_MS, forget: forgetRaw },
] as const;
