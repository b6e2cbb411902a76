/**
 * All that recipients read, in one language. `{project}`, `{address}`, `{date}` and `{days}` are put in where they stand, and
 * nothing else is: a translation can lead nowhere and mark up nothing.
 */
export type Words = {
  /** What the language calls itself. */
  language: string;
  /** In which direction it is written. */
  dir: 'ltr' | 'rtl';
  title: string;
  wanted: string;
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
  troubleTitle: string;
  refused: string;
  trouble: string;
  back: string;
  languages: string;
};
