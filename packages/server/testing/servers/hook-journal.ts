import { readWebhookSecret, verifyWebhook } from '@beckon/contract/signature';
import { sha256 } from '../../src/platform/crypto/hash.ts';
import { type HookReply, type Hooked, hookServer } from './hook-server.ts';

/** A customer's server that records every POST, together with the server's own records at that moment. */
export type HookJournal = {
  /** Returns the URL of this endpoint. */
  url(name: string): string;
  expect(name: string, secret: string): void;
  posts: Posted[];
  close(): Promise<void>;
};
export type Posted = {
  endpoint: string;
  /** The id from the header, without its prefix. */
  webhookId: string;
  at: number;
  /** The hash of the body. */
  digest: string;
  /** The problem with the request, or null if it is correct. */
  fault: string | null;
  /** Attempts that were recorded when it arrived. `ordinal` is the number of this POST of its delivery, counted from 1. */
  attempts: number;
  ordinal: number;
  status: number;
};

/** `statusFor` returns the status for a copy of an event at an endpoint. `attemptsOf` returns the recorded attempts of that delivery. */
export type JournalOptions = {
  statusFor: (post: Pick<Posted, 'endpoint' | 'webhookId' | 'ordinal'>) => Promise<number>;
  attemptsOf: (post: Pick<Posted, 'endpoint' | 'webhookId'>) => Promise<number>;
};

export async function hookJournal({ statusFor, attemptsOf }: JournalOptions): Promise<HookJournal> {
  const hooks = await hookServer();
  const secrets = new Map<string, Uint8Array>();
  const copies = new Map<string, number>();
  const posts: Posted[] = [];

  async function take(hooked: Hooked): Promise<HookReply> {
    const endpoint = hooked.path.slice(1);
    const webhookId = String(hooked.headers['webhook-id']).replace(/^msg_/, '');
    const ordinal = (copies.get(`${endpoint} ${webhookId}`) ?? 0) + 1;
    copies.set(`${endpoint} ${webhookId}`, ordinal);
    const post = { endpoint, webhookId, ordinal };
    const at = Date.now();
    const fault = faultOf(hooked, { webhookId, secret: secrets.get(endpoint), now: at });
    const attempts = await attemptsOf(post);
    const status = await statusFor(post);
    posts.push({ ...post, at, digest: sha256(hooked.body), fault, attempts, status });
    return { status };
  }
  hooks.setReply(take);
  return {
    url: (name) => hooks.url(`/${name}`),
    expect(name, secret) {
      secrets.set(name, readWebhookSecret(secret) ?? Buffer.alloc(0));
    },
    posts,
    close: () => hooks.close(),
  };
}

type ExpectedPost = { webhookId: string; secret: Uint8Array | undefined; now: number };

function faultOf({ headers, body }: Hooked, { webhookId, secret, now }: ExpectedPost): string | null {
  if (!secret) return 'unknown endpoint';
  const verified = verifyWebhook({ headers, body, secrets: [secret], now });
  if (!verified.ok) return verified.why;
  const { id } = JSON.parse(body) as { id: string };
  return id === `msg_${webhookId}` ? null : 'the body names another message';
}
