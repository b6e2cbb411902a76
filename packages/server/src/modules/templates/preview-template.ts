import type { EmailCheck, EmailSource, TemplatePreview } from '@beckon/contract/dashboard';
import { Fault, type FieldFault } from '../../platform/fault.ts';
import { type EmailPreview, previewEmail } from './preview-email.ts';
import { checkWords, type CopyDeps } from './send-test-copy.ts';
import { showVariables } from './show-templates.ts';
import { variablesCheck } from './unknown-variables.ts';
import { savePreview } from './unpublished.ts';

export function rendering<Db>({
  db,
  sendServices: { renderer },
}: Pick<CopyDeps, 'sendServices'> & { db: Db }) {
  return { db, renderer };
}

export type PreviewRequest = {
  projectId: number;
  template: string;
  /** Null: the published version. */
  email: EmailSource | null;
  user: string | null;
  /** The time of the preview; now, if absent. */
  at?: number;
};

/** Renders an email for a user. Unpublished text may belong to a template that does not exist yet; its name identifies it all the same. */
export function renderAs(
  deps: Pick<CopyDeps, 'db' | 'sendServices'>,
  { projectId, template, email, user: userId, at }: PreviewRequest,
): Promise<EmailPreview> {
  const now = deps.db.clock.now();
  const previewQuery = { projectId, now, userId, ...(at === undefined ? {} : { at }) };
  return email === null
    ? previewEmail(rendering(deps), { ...previewQuery, reference: template, document: null })
    : previewEmail(rendering(deps), {
        ...previewQuery,
        reference: null,
        document: { ...email, name: template },
      });
}

/** Renders a preview with its checks. Errors in unfinished text are part of the result. */
export async function previewTemplate(
  deps: CopyDeps,
  { to, ...input }: PreviewRequest & { to: string },
): Promise<TemplatePreview> {
  const { db } = deps;
  const { projectId, email, user } = input;
  const rendered = await orFaults(() => renderAs(deps, input));
  if ('faults' in rendered) return { ...emptyPreview(input), faults: rendered.faults };
  const {
    content,
    locale,
    text,
    html,
    missing,
    unsure,
    userId,
    event,
    source,
    warnings: troubles,
  } = rendered;
  const query = { projectId, now: db.clock.now() };
  const { variables, people, others } = await showVariables(rendering(deps), query, source);
  const known = { people, names: others.map(({ name }) => name).concat(KNOWN_NAMES) };
  const unknown = variablesCheck(variables, known);
  const words = email && (await savePreview({ tx: db, clock: db.clock, projectId }, email));
  const looks = await checkWords(deps, { projectId, content, locale, to });
  return {
    external_user_id: userId,
    is_sample: user === null,
    event,
    subject: content.subject,
    preheader: content.preheader,
    text,
    missing,
    uncertain: unsure,
    faults: [],
    variables,
    checks: [
      ...looks.filter((check) => unknown.length === 0 || !isMissingValue(check)),
      ...unknown,
      ...troubles.map((message) => ({ name: 'rendering', status: 'warning' as const, message })),
    ],
    bytes: Buffer.byteLength(html),
    preview_id: words,
  };
}

/** The check of unknown variables says more than this warning. An error has another cause: a variable that was not filled in. */
function isMissingValue({ name, status }: EmailCheck): boolean {
  return name === 'placeholders' && status === 'warning';
}

/** The variables that every user may have, even if the first users that are read do not. */
const KNOWN_NAMES = ['email', 'name', 'plan', 'company', 'role'].map((trait) => `user.${trait}`);

function emptyPreview({ email, user }: PreviewRequest): Omit<TemplatePreview, 'faults'> {
  const { subject = '', preheader = '' } = email ?? {};
  const about = { external_user_id: user ?? '', is_sample: user === null, event: '' };
  const none = {
    text: '',
    missing: [],
    uncertain: [],
    variables: [],
    checks: [],
    bytes: 0,
    preview_id: null,
  };
  return { ...about, subject, preheader, ...none };
}

/** Returns errors in unfinished text as part of the answer; a time without data is refused. */
async function orFaults<T extends object>(run: () => Promise<T>): Promise<T | { faults: FieldFault[] }> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'validation_failed') throw error;
    if (!error.details.some(({ field }) => field === 'at')) return { faults: error.details };
    throw error;
  }
}
