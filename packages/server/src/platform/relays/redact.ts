import { SMTP_KIND } from './smtp.ts';
import type { RelayAdapter, RelayContext, RelayField, RelaySettings } from './adapter.ts';
import { HOOK_SECRET } from './fields.ts';

/** Shorter values would match in words that reveal nothing. */
const SECRET_MIN_CHARS = 6;
const REDACTED = '[redacted]';

/**
 * Replaces secrets in every text of a value. A provider may repeat in its answer what it received, and its answers are stored, shown and
 * logged.
 */
export function redactSecrets<T>(value: T, secrets: readonly string[]): T {
  const spelled = secrets
    .filter((secret) => secret.length >= SECRET_MIN_CHARS)
    .flatMap(spellings)
    // The longest first, because one may contain another.
    .toSorted((a, b) => b.length - a.length);
  return spelled.length === 0 ? value : (redactIn(value, spelled) as T);
}

function redactIn(value: unknown, spelled: readonly string[]): unknown {
  if (typeof value === 'string')
    return spelled.reduce((text, secret) => text.replaceAll(secret, REDACTED), value);
  if (Array.isArray(value)) return value.map((entry) => redactIn(entry, spelled));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, redactIn(entry, spelled)]));
}

/** Returns the forms in which a secret is sent: as it is, in a URL, in JSON, and within base64 at any position. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...encoded])];
}

function secretsOf(fields: readonly RelayField[], settings: RelaySettings): string[] {
  const names = [...fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : [])), HOOK_SECRET];
  return names.flatMap((name) => settings[name] ?? []);
}

/** Returns the secrets of an SMTP relay. */
export function smtpSecrets(settings: RelaySettings): string[] {
  return secretsOf(SMTP_KIND.fields, settings);
}

/** Returns an adapter whose answers contain no secret of its relay. */
export function withoutSecrets(adapter: RelayAdapter): RelayAdapter {
  const { fields, webhook, pull, suppressions } = adapter;
  const redact = <T>(value: T, { settings }: RelayContext): T =>
    redactSecrets(value, secretsOf(fields, settings));
  /** A result that is no failure has values of the provider, which are not shown. */
  function redactFailure<T extends { ok: boolean }>(result: T, context: RelayContext): T {
    return result.ok ? result : redact(result, context);
  }
  const register = webhook?.register?.bind(webhook);
  return {
    ...adapter,
    send: async (email, context) => redact(await adapter.send(email, context), context),
    check: async (context) => redact(await adapter.check(context), context),
    pull: pull && (async (cursor, context) => redactFailure(await pull(cursor, context), context)),
    suppressions:
      suppressions &&
      (async (cursor, context) => redactFailure(await suppressions(cursor, context), context)),
    webhook: webhook && {
      ...webhook,
      ...(register && {
        register: async (hookUrl: string, context: RelayContext) =>
          redactFailure(await register(hookUrl, context), context),
      }),
    },
  };
}
