import type { RelayKind } from './adapter.ts';

/**
 * The providers that document an idempotency key, with the shortest window that they name. Each window begins with the first request that
 * has the key. docs/reference/relay-providers.md cites the sources.
 *
 * `repeatsAnswer`: a repeated request gets the answer of the first one, so a refusal is certain as well. Without it, a refusal of a repeated
 * request says nothing about the first one.
 */
type Idempotency = { windowMs: number; repeatsAnswer: boolean };

export const RESEND_IDEMPOTENCY: Idempotency = { windowMs: 24 * 3_600_000, repeatsAnswer: true };
export const BREVO_IDEMPOTENCY: Idempotency = { windowMs: 15 * 60_000, repeatsAnswer: false };

const BY_KIND: ReadonlyMap<string, Idempotency> = new Map([
  ['resend', RESEND_IDEMPOTENCY],
  ['brevo', BREVO_IDEMPOTENCY],
]);

/** Returns null for a kind without a documented key. */
export function idempotencyOf(kind: RelayKind): Idempotency | null {
  return BY_KIND.get(kind) ?? null;
}
