import type {
  ReplySource as SourceShown,
  ReplySourceKindInfo as KindShown,
} from '@beckon/contract/dashboard';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import { urlWithPassword } from '../../../platform/relays/fields.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { isLoopbackName } from '../../../platform/net/network-address.ts';
import { fieldView } from '../../sending/index.ts';
import { forwardingAddress } from '../mail/match-email.ts';
import { REPLY_SOURCE_KINDS, type ReplySourceKindInfo } from './kinds.ts';
import type { SourceWithSecrets } from './reads.ts';
import { decryptSource } from './secrets.ts';
import { SOURCE_RESULTS } from './source.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';

export type SourceViewDeps = {
  encrypter: Encrypter;
  tokenKeys: TokenKeys;
  publicUrl: string;
  /** Null: the SMTP listener has no public name. */
  mailDomain: string | null;
};

/** For admins only, because the address of the webhook contains a secret. */
export function sourceView(deps: SourceViewDeps, found: SourceWithSecrets): SourceShown {
  const { source } = found;
  const hookUrl = new URL(`/hooks/replies/${source.id}`, deps.publicUrl).href;
  const isPushed = source.kind === 'postmark' || source.kind === 'http';
  return {
    kind: source.kind,
    title: REPLY_SOURCE_KINDS.find(({ kind }) => kind === source.kind)?.title ?? source.kind,
    settings: { ...source.settings },
    webhook_url: isPushed ? urlWithPassword(hookUrl, decryptSource(deps.encrypter, found)) : null,
    forward_to: source.kind === 'forwarding' ? forwardTo(deps, found) : null,
    is_local: isPushed && isLoopbackName(new URL(hookUrl).hostname),
    failure: source.failing?.message ?? null,
    failing_since: isoOrNull(source.failing?.since ?? null),
    read_at: isoOrNull(source.readAt),
    changed_at: iso(source.changedAt),
    counts: SOURCE_RESULTS.flatMap((result) => {
      const emails = source.counts[result] ?? 0;
      return emails === 0 ? [] : [{ result, emails }];
    }),
  };
}

function forwardTo(
  { mailDomain, tokenKeys }: SourceViewDeps,
  { source: { projectId, id } }: SourceWithSecrets,
): string | null {
  return mailDomain === null ? null : forwardingAddress({ projectId, emailId: id }, mailDomain, tokenKeys);
}

export function sourceKindView({ kind, title, fields }: ReplySourceKindInfo): KindShown {
  return { kind, title, fields: fields.map(fieldView) };
}
