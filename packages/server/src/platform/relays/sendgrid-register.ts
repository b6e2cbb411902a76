import type { RegisterResult, RelayContext } from './adapter.ts';
import { asList, asObject, asText } from './json.ts';
import { type Answer, failureMessage, request } from './request.ts';

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
  const list = await request(context, { url: url(`${SETTINGS}/all`), headers });
  if ('failed' in list || list.status !== 200) return failed(list);
  const saved = await saveWebhook(hookUrl, context, { url, headers, id: idOf(list, hookUrl) });
  const id = 'failed' in saved ? null : asText(saved.json['id']);
  if (id === null) return failed(saved);
  const signed = await request(context, {
    url: url(`${SETTINGS}/signed/${encodeURIComponent(id)}`),
    headers,
    body: { enabled: true },
    method: 'PATCH',
  });
  const key = 'failed' in signed ? null : signed.json['public_key'];
  if (typeof key !== 'string' || key.length > KEY_MAX_CHARS) return failed(signed);
  return { ok: true, settings: { verification_key: key } };
}

const SETTINGS = '/v3/user/webhooks/event/settings';

/** Returns the id of the webhook with this URL, if there is one. */
function idOf({ json }: Answer, hookUrl: string): string | null {
  const hooks = asList(json['webhooks'], 100).map(asObject);
  return asText(hooks.find((hook) => hook['url'] === hookUrl)?.['id']);
}

type Saving = SendGrid & { id: string | null };

function saveWebhook(hookUrl: string, context: RelayContext, { url, headers, id }: Saving) {
  const body = { ...EVENTS, enabled: true, url: hookUrl, friendly_name: 'Beckon' };
  if (id === null) return request(context, { url: url(SETTINGS), headers, body });
  const path = `${SETTINGS}/${encodeURIComponent(id)}`;
  return request(context, { url: url(path), headers, body, method: 'PATCH' });
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
