import Type from 'typebox';
import { item } from './envelope.ts';
import type { RelayField } from './relays.ts';

export type ReplySourceKindInfo = { kind: string; title: string; fields: RelayField[] };

/** Where a project receives replies without port 25. */
export type ReplySource = {
  kind: string;
  title: string;
  /** Its settings without secrets. */
  settings: Record<string, string>;
  /** The address to enter at the service that posts emails. It contains a secret. Null for other kinds. */
  webhook_url: string | null;
  /** The address that the mailbox forwards replies to. Null for other kinds. */
  forward_to: string | null;
  /** The address of Beckon is not public, so that no service reaches it. */
  is_local: boolean;
  /** Why the mailbox could not be read, or the last posted email could not be received. */
  failure: string | null;
  failing_since: string | null;
  /** When the mailbox was last read to its end, or an email last arrived. */
  read_at: string | null;
  changed_at: string;
  /** The emails that were received since it was set up, by what became of them. */
  counts: { result: ReplySourceResult; emails: number }[];
};

export type ReplySourceResult =
  | 'received'
  | 'repeated'
  | 'unmatched'
  | 'unproven'
  | 'no_action'
  | 'full'
  | 'unreadable'
  | 'too_large';

/** `inside`: a demo or sandbox project, whose emails never leave the installation. */
export type ReplySourceSetup = { source: ReplySource | null; kinds: ReplySourceKindInfo[]; inside: boolean };

export const REPLY_SOURCE_API = {
  'GET /projects/:project/reply-source': { response: item<ReplySourceSetup>() },
  /** Sets or replaces the reply source. Secrets that are left out stay if the kind is the same. */
  'PUT /projects/:project/reply-source': {
    body: Type.Object({
      kind: Type.String({ maxLength: 40 }),
      settings: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 10_000 })),
    }),
    response: item<ReplySourceSetup>(),
  },
  'DELETE /projects/:project/reply-source': { response: item<{ deleted: boolean }>() },
  /** Signs in to the mailbox and opens its folder. It reads no email. */
  'POST /projects/:project/reply-source/test': { response: item<{ ok: boolean; message: string }>() },
};
