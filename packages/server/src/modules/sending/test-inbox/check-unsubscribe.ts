import { type Check, type CheckedLetter, type Finding, judged } from './check.ts';
import { headersOf } from './check-headers.ts';
import { isLoopback, type Link, linksOf } from './check-links.ts';

/** Checks whether a recipient can unsubscribe with one click, both in their client and in the email. Gmail and Yahoo require both. */
export function checkUnsubscribe({ mail, page, kind }: CheckedLetter): Check {
  if (kind === 'team')
    return { name: 'unsubscribe', status: 'ok', message: 'An email to the team does not need one.' };
  const header = headersOf(mail, 'list-unsubscribe')[0] ?? '';
  const targets = [...header.slice(0, HEADER_MAX_CHARS).matchAll(/<([^<>]*)>/g)].map(([, uri = '']) =>
    uri.trim(),
  );
  const target = targets.map((uri) => URL.parse(uri)).find((url) => url && /^https?:$/.test(url.protocol));
  const post = headersOf(mail, 'list-unsubscribe-post')[0] ?? '';
  const links = linksOf(page);
  return judged(
    'unsubscribe',
    [...byHeader(target ?? null), ...byPost(post), ...inBody(links, targets)],
    'One-click unsubscribe and a link in the email are present.',
  );
}

const HEADER_MAX_CHARS = 4_000;

function byHeader(target: URL | null): Finding[] {
  if (!target) {
    const message = 'List-Unsubscribe with an https URL is missing, so clients show no unsubscribe button.';
    return [{ status: 'error', message }];
  }
  if (target.protocol === 'https:') return [];
  if (isLoopback(target.hostname)) {
    const message =
      'List-Unsubscribe points to this machine, which is fine for the test inbox. With a real relay, PUBLIC_URL must be an https URL.';
    return [{ status: 'ok', message }];
  }
  const message = 'List-Unsubscribe is not https, so no client uses it. Set PUBLIC_URL to an https URL.';
  return [{ status: 'error', message }];
}

function byPost(post: string): Finding[] {
  if (post.trim().toLowerCase() === 'list-unsubscribe=one-click') return [];
  const message = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click is missing, so one click is not enough.';
  return [{ status: 'error', message }];
}

const SAYS_SO =
  /unsubscribe|opt[\s_-]?out|abbestellen|abmelden|austragen|d[ée]sabonn|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|disiscriv|cancella|afmelden|avregistr|wypisz|отписа|取消订阅|配信停止/i;

function inBody(links: Link[], targets: string[]): Finding[] {
  const isThere = links.some(
    ({ href, label }) => targets.includes(href) || SAYS_SO.test(label) || SAYS_SO.test(href),
  );
  if (isThere) return [];
  const message = 'The email has no visible unsubscribe link. Add one at its end.';
  return [{ status: 'error', message }];
}
