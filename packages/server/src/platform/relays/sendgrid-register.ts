import type { RegisterResult, RelayContext } from './adapter.ts';
import { asList, asObject, asText } from './json.ts';
import { failureMessage, request } from './request.ts';

type SendGrid = { url: (path: string) => string; headers: Record<string, string> };

/**
 * Creates an Event Webhook, or updates the one with the same URL, and enables its signature:
 * https://www.twilio.com/docs/sendgrid/api-reference/webhooks. The answer contains the key that verifies the signature.
 */
export async function registerSendgrid(
  hookUrl: string,
  context: RelayContext,
  { url, headers }: SendGrid,
): Promise<RegisterResult> {
  const settings = '/v3/user/webhooks/event/settings';
  const list = await request(context, { url: url(`${settings}/all`), headers });
  if ('failed' in list || list.status !== 200) return failed(list);
  const existing = asList(list.json['webhooks'], 100)
    .map(asObject)
    .find((hook) => hook['url'] === hookUrl);
  const id = asText(existing?.['id']);
  const body = { ...EVENTS, enabled: true, url: hookUrl, friendly_name: 'Beckon' };
  const saved = await (id === null
    ? request(context, { url: url(settings), headers, body })
    : request(context, {
        url: url(`${settings}/${encodeURIComponent(id)}`),
        headers,
        body,
        method: 'PATCH',
      }));
  if ('failed' in saved || (saved.status !== 200 && saved.status !== 201)) return failed(saved);
  const savedId = asText(saved.json['id']) ?? id;
  if (savedId === null) return failed(saved);
  const signed = await request(context, {
    url: url(`${settings}/signed/${encodeURIComponent(savedId)}`),
    headers,
    body: { enabled: true },
    method: 'PATCH',
  });
  const key = 'failed' in signed ? null : signed.json['public_key'];
  if (typeof key !== 'string' || key.length > KEY_MAX_CHARS) return failed(signed);
  return { ok: true, settings: { verification_key: key } };
}

const KEY_MAX_CHARS = 1_000;

/** Opens, clicks and unsubscribes stay off, because Beckon counts its own. */
const EVENTS = {
  delivered: true,
  deferred: true,
  bounce: true,
  dropped: true,
  spam_report: true,
  processed: false,
  open: false,
  click: false,
  unsubscribe: false,
  group_unsubscribe: false,
  group_resubscribe: false,
};

function failed(answer: Awaited<ReturnType<typeof request>>): RegisterResult {
  return { ok: false, message: failureMessage('SendGrid', answer) };
}
