import type { EmailSource, TemplateListed, TemplateDetails } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { Fault } from '../../platform/fault.ts';
import { listRules } from '../rules/index.ts';
import { findShippedEmail, loadEmails } from '../rendering/index.ts';
import { listUnpublished, type UnpublishedEmail } from './unpublished.ts';
import { countFollowing } from './write-template.ts';
import { type ListedEmail, listEmails, showEmail, type TemplateView } from './show-templates.ts';
import type { KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';

type Deps = Pick<KitDeps, 'db' | 'access'> & { sendServices: SendServices };

/** Lists the project's own templates, those that ship, and those with only an unpublished version; by name. */
export async function listAllTemplates({ db }: Deps, projectId: number): Promise<TemplateListed[]> {
  const around = await findAround(db, projectId);
  const emails = await listEmails(db, { projectId, now: db.clock.now() });
  const projectEmails = (await loadEmails(db, [projectId])).get(projectId);
  const listed = emails.map((email) => {
    const words = projectEmails?.get(email.name) ?? findShippedEmail(email.name);
    const format = words?.format === 'html' ? ('mjml' as const) : ('markdown' as const);
    const line = { format, subject: words?.subject ?? '' };
    return { ...listedOf(email, line, around), updated_at: updatedAt(email) };
  });
  const publishedNames = new Set(emails.map(({ name }) => name));
  const begun = [...around.unpublished.values()]
    .filter(({ name }) => !publishedNames.has(name))
    .map(toUnpublishedListed);
  return [...listed, ...begun].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

type Db = Deps['db'];
type Around = { unpublished: Map<string, UnpublishedEmail>; rules: Map<string, string> };

async function findAround(db: Db, projectId: number): Promise<Around> {
  const rules = await listRules(db, projectId);
  return {
    unpublished: await listUnpublished(db, projectId),
    rules: new Map(rules.map(({ id, name }) => [name, id])),
  };
}

function listedOf(
  { name, template, isShipped, usedBy }: ListedEmail,
  { format, subject }: Pick<EmailSource, 'format' | 'subject'>,
  { unpublished, rules }: Around,
): Omit<TemplateListed, 'updated_at'> {
  return {
    name,
    version: template?.version ?? null,
    is_shipped: isShipped,
    format,
    subject,
    used_by: usedBy.map((rule) => ({ id: rules.get(rule) ?? rule, name: rule })),
    has_unpublished: unpublished.has(name),
  };
}

function updatedAt({ template }: ListedEmail): string | null {
  return template === null ? null : iso(template.updatedAt);
}

function toUnpublishedListed({ name, format, subject, savedAt }: UnpublishedEmail): TemplateListed {
  const state = { version: null, is_shipped: false, used_by: [], has_unpublished: true };
  return { name, format, subject, ...state, updated_at: iso(savedAt) };
}

/** Returns a template by its name, or by the id of one of the project's own. */
export async function showTemplate(
  { db, access, sendServices: { renderer } }: Deps,
  projectId: number,
  reference: string,
): Promise<TemplateDetails> {
  const now = db.clock.now();
  const around = await findAround(db, projectId);
  const begun = around.unpublished.get(reference);
  const email = await showEmail({ db, renderer }, { projectId, reference, now }).catch((error: unknown) => {
    // An unpublished version under a new name is not a template yet.
    if (begun && error instanceof Fault && error.code === 'not_found') return null;
    throw error;
  });
  if (email === null && begun) return showUnpublished({ access }, begun);
  if (email === null) throw new Error('a template that is neither published nor saved');
  const { versions, variables, people, others } = email;
  const unpublished = around.unpublished.get(email.name) ?? null;
  const actors = [
    ...versions.map(({ createdBy }) => createdBy),
    ...(unpublished ? [unpublished.savedBy] : []),
  ];
  const names = await access.namesOf(actors);
  const published = publishedOf(email);
  return {
    ...listedOf(email, published, around),
    updated_at: updatedAt(email),
    published,
    unpublished: unpublished && toUnpublished(unpublished, names),
    versions: versions.map(({ version, format, subject, preheader, body, createdAt, createdBy }) => ({
      version,
      format,
      subject,
      preheader,
      body,
      created_at: iso(createdAt),
      created_by: names.get(createdBy) ?? createdBy,
    })),
    variables,
    users: people,
    other_variables: others,
    open_untouched: await countFollowing(db, { projectId, name: email.name, now }),
  };
}

async function showUnpublished(
  { access }: Pick<Deps, 'access'>,
  begun: UnpublishedEmail,
): Promise<TemplateDetails> {
  const names = await access.namesOf([begun.savedBy]);
  return {
    ...toUnpublishedListed(begun),
    published: { format: begun.format, subject: '', preheader: '', body: '' },
    unpublished: toUnpublished(begun, names),
    versions: [],
    variables: [],
    users: 0,
    other_variables: [],
    open_untouched: 0,
  };
}

function toUnpublished(
  { format, subject, preheader, body, savedAt, savedBy }: UnpublishedEmail,
  names: ReadonlyMap<string, string>,
): NonNullable<TemplateDetails['unpublished']> {
  const saved = { saved_at: iso(savedAt), saved_by: names.get(savedBy) ?? savedBy };
  return { format, subject, preheader, body, ...saved };
}

/** The source text, not its compiled form. */
function publishedOf({ name, versions }: Pick<TemplateView, 'name' | 'versions'>): EmailSource {
  const [newest] = versions;
  if (newest) {
    const { format, subject, preheader, body } = newest;
    return { format, subject, preheader, body };
  }
  const shipped = findShippedEmail(name);
  if (!shipped) throw new Error(`the template ${name} has no content`);
  const { subject, preheader, body } = shipped;
  return { format: 'markdown', subject, preheader, body };
}
