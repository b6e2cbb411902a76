/**
 * All texts that recipients read, in one language: the email preferences pages, the pages of links that do not work, and the
 * footer of emails. Only `{project}`, `{address}`, `{date}` and `{days}` are filled in, so a translation cannot add a link or
 * markup.
 */
export type RecipientTexts = {
  /** The language's own name. */
  language: string;
  /** Its writing direction. */
  dir: 'ltr' | 'rtl';
  title: string;
  subscribed: string;
  stoppedByBounces: string;
  stoppedBySender: string;
  unsubscribe: string;
  unsubscribeHint: string;
  topics: string;
  topicsHint: string;
  topicsSave: string;
  snooze: string;
  snoozeHint: string;
  snoozeDays: string;
  unsubscribedTitle: string;
  unsubscribed: string;
  mistake: string;
  resubscribe: string;
  snoozedTitle: string;
  snoozed: string;
  resume: string;
  topicsSaved: string;
  resubscribed: string;
  goneTitle: string;
  gone: string;
  unknownTitle: string;
  unknown: string;
  failedTitle: string;
  refused: string;
  failed: string;
  linkUnavailable: string;
  back: string;
  languages: string;
  emailReason: string;
  emailUnsubscribe: string;
};

/** Fills the placeholders of a text. A placeholder without a value becomes empty. */
export function fillText(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
