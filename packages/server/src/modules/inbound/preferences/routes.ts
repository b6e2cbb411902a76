import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Choice, type ChoiceDeps, choose, SNOOZE_DAYS } from './choose.ts';
import { choicesPage, type SavedChange, noticePage, type PageAddress } from './page.ts';
import { showChoices, type EmailPreferences } from './show-preferences.ts';
import { STYLE_HASH } from './layout.ts';
import { createFairQueue, type FairQueue } from '../../../platform/async/fair-queue.ts';
import { type EmailName, readEmailToken, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import { isLanguage } from '../../../platform/recipient-texts/languages.ts';
import { negotiateLanguage } from '../../../platform/recipient-texts/negotiate-language.ts';

export type ChoicesDeps = ChoiceDeps & { tokenKeys: TokenKeys };

/**
 * Every change of preferences locks its project, and a request that waits for the lock holds one of ten connections that all projects
 * share. So the changes of a project run one at a time, and a button that is pressed a thousand times holds one connection.
 */
const PROJECT_QUEUE = { atOncePerKey: 1, slots: 1_000, slotsPerKey: 250 };

/**
 * The email preferences of recipients, at `/u/<token>` and below. The token alone identifies the recipient, so there is no cookie, and
 * another site cannot change preferences without the email. Only a POST changes anything, because mail programs and their scanners follow
 * every link. The one-click unsubscribe of mail programs (RFC 8058) is a POST to the same address. It is answered directly, never
 * redirected, however often it is repeated.
 */
export function mountChoices(app: FastifyInstance, deps: ChoicesDeps): void {
  const projectQueue = createFairQueue(PROJECT_QUEUE);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: FORM_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error, request, reply) => sendErrorPage(deps, { error, request, reply }));
    scope.get<Named>('/u/:token', (request, reply) => show(deps, request, reply));
    for (const [path, read] of Object.entries(CHOICES))
      scope.post<Named>(`/u/:token${path}`, (request, reply) =>
        handleChange(deps, { request, reply, read, projectQueue }),
      );
  });
}

type Named = { Params: { token: string } };
type Reader = (form: Form, preferences: EmailPreferences) => Choice | null;

/** Reads the change of each form; null if the form is invalid. */
const CHOICES: Record<string, Reader> = {
  '': readUnsubscribe,
  '/resubscribe': () => ({ kind: 'resubscribe' }),
  '/topics': readTopics,
  '/snooze': readSnooze,
};

/** Neither field: the request is not from a mail program or the page. */
function readUnsubscribe(form: Form): Choice | null {
  if (form.get('List-Unsubscribe')?.trim().toLowerCase() === 'one-click')
    return { kind: 'unsubscribe', method: 'one_click' };
  return form.get('unsubscribe') === 'yes' ? { kind: 'unsubscribe', method: 'link' } : null;
}

/** Browsers do not send an unchecked box, so every topic of the page that is missing is refused. */
function readTopics(form: Form, { topics }: EmailPreferences): Choice {
  const checked = form.all('topic');
  return { kind: 'topics', refused: topics.map(({ id }) => id).filter((id) => !checked.includes(id)) };
}

function readSnooze(form: Form): Choice | null {
  const days = SNOOZE_DAYS.find((option) => String(option) === form.get('days'));
  return days === undefined ? null : { kind: 'snooze', days };
}

async function show(deps: ChoicesDeps, request: FastifyRequest<Named>, reply: FastifyReply): Promise<string> {
  const email = emailNameOf(deps, request);
  if (!email) return page(reply, 404, noticePage({ ...pageAddress(request), path: null }, 'unknown'));
  const preferences = await showChoices(deps.db, email);
  if (!preferences) return page(reply, 200, noticePage({ ...pageAddress(request), path: null }, 'gone'));
  return page(reply, 200, choicesPage(pageAddress(request, preferences), preferences, null));
}

type ChangeRequest = {
  request: FastifyRequest<Named>;
  reply: FastifyReply;
  read: Reader;
  projectQueue: FairQueue;
};

async function handleChange(
  deps: ChoicesDeps,
  { request, reply, read, projectQueue }: ChangeRequest,
): Promise<string> {
  const email = emailNameOf(deps, request);
  if (!email) return page(reply, 404, noticePage({ ...pageAddress(request), path: null }, 'unknown'));
  const before = await showChoices(deps.db, email);
  const form = await readForm(bodyOf(request), request.headers['content-type']);
  const choice = before && read(form, before);
  if (before && !choice) return page(reply, 400, noticePage(pageAddress(request, before), 'refused'));
  const preferences = choice && (await projectQueue.run(email.projectId, () => choose(deps, email, choice)));
  if (!choice || !preferences)
    return page(reply, 200, noticePage({ ...pageAddress(request), path: null }, 'gone'));
  return page(reply, 200, choicesPage(pageAddress(request, preferences), preferences, DONE[choice.kind]));
}

/** The pages of the other changes confirm them in the heading. */
const DONE: Record<Choice['kind'], SavedChange> = {
  unsubscribe: null,
  snooze: null,
  topics: 'topicsSaved',
  resubscribe: 'resubscribed',
};

function emailNameOf({ tokenKeys }: ChoicesDeps, { params }: FastifyRequest<Named>): EmailName | null {
  return readEmailToken(params.token, 'unsubscribe', tokenKeys);
}

function bodyOf({ body }: FastifyRequest): Buffer | null {
  return Buffer.isBuffer(body) ? body : null;
}

function pageAddress(
  request: FastifyRequest,
  reader: Partial<Pick<EmailPreferences, 'userLocale' | 'projectLocale'>> = {},
): PageAddress {
  const chosen = chosenLanguage(request);
  const { userLocale, projectLocale } = reader;
  const accepted = request.headers['accept-language'];
  const language = negotiateLanguage({ chosen, userLocale, accepted, projectLocale });
  const { token } = request.params as Named['Params'];
  const query = isLanguage(chosen) ? `?lang=${chosen}` : '';
  return { language, path: `/u/${encodeURIComponent(token)}`, query };
}

function chosenLanguage({ query }: FastifyRequest): unknown {
  return (query as Record<string, unknown>).lang;
}

const POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_HASH}`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function page(reply: FastifyReply, status: number, body: string): string {
  void reply.code(status).headers({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex',
    Vary: 'Accept-Language',
  });
  return body;
}

type FailedPageRequest = { error: unknown; request: FastifyRequest; reply: FastifyReply };

const RETRY_AFTER_S = 5;

/** Recipients get a page for every error. Mail programs read the status and retry. */
function sendErrorPage({ log }: ChoicesDeps, { error, request, reply }: FailedPageRequest): FastifyReply {
  const address = pageAddress(request);
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status < 500)
    return reply.send(page(reply, status, noticePage(address, 'refused')));
  log.error({ err: error, request_id: request.id, path: request.routeOptions.url }, 'preferences.failed');
  void reply.header('Retry-After', String(RETRY_AFTER_S));
  return reply.send(page(reply, 503, noticePage(address, 'failed')));
}

/** The fields of a submitted form: the first value of a name, and all of them. */
type Form = { get: (name: string) => string | null; all: (name: string) => string[] };

/** More than any of our forms, or the one line of a mail program, needs. */
const FORM_MAX_BYTES = 16 * 1024;

/**
 * Reads both codings that RFC 8058 allows. A body of another or no media type is read as the usual one, because its content is
 * unmistakable. An unreadable body has no fields.
 */
async function readForm(body: Buffer | null, contentType: string | undefined): Promise<Form> {
  if (body === null) return NOTHING;
  if (!/^multipart\/form-data\b/i.test(contentType ?? ''))
    return ofEntries(new URLSearchParams(body.toString()));
  try {
    const headers = { 'Content-Type': contentType ?? '' };
    return ofEntries(await new Response(new Uint8Array(body), { headers }).formData());
  } catch {
    return NOTHING;
  }
}

const NOTHING: Form = { get: () => null, all: () => [] };

function ofEntries(entries: Iterable<[string, unknown]>): Form {
  const texts = [...entries].flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []));
  const all = (field: string): string[] =>
    texts.filter(({ name }) => name === field).map(({ value }) => value);
  return { get: (field) => all(field)[0] ?? null, all };
}
