import type { RelayAdapter, RelayKind } from './adapter.ts';

/** What set-up needs to know about a kind: the part that SMTP and all providers have in common. */
export type RelayKindInfo = Pick<RelayAdapter, 'fields' | 'checkSettings' | 'smtpHost' | 'title'> & {
  kind: RelayKind;
};
