import Type, { type Static } from 'typebox';
import { FILTER, FRAME, PAGE, item, list, oneOf, raw } from './envelope.ts';
import type { EmailCheck } from './emails.ts';
import type { DocumentFault } from './rules.ts';

const EmailSourceSchema = Type.Object(
  {
    format: oneOf(['markdown', 'mjml']),
    subject: Type.String(),
    preheader: Type.String(),
    body: Type.String(),
  },
  { additionalProperties: false },
);
/** The source of an email. */
export type EmailSource = Static<typeof EmailSourceSchema>;

export type TemplateListed = {
  /** The name that rules and URLs use. */
  name: string;
  /** Null: a built-in template, without a version of the project. */
  version: number | null;
  is_shipped: boolean;
  format: EmailSource['format'];
  subject: string;
  used_by: { id: string; name: string }[];
  /** True if an unpublished version is saved. */
  has_unpublished: boolean;
  updated_at: string | null;
};

export type TemplateVersion = EmailSource & {
  version: number;
  created_at: string;
  created_by: string;
};

/**
 * A variable of a template. `required`: it has no default, so a draft without a value is held. `share`: the share of users who
 * have a value; null for variables that are not of the user. `events`: the events that have the property.
 */
export type TemplateVariable = { name: string; required: boolean; share: number | null; events: string[] };

export type TemplateDetails = TemplateListed & {
  published: EmailSource;
  /** The saved unpublished version; null: no version is saved. */
  unpublished: (EmailSource & { saved_at: string; saved_by: string }) | null;
  /** The published versions of the project, newest first. A built-in template has none. */
  versions: TemplateVersion[];
  variables: TemplateVariable[];
  /** The number of users that the shares refer to. */
  users: number;
  /** Variables of users that the template does not use. */
  other_variables: { name: string; share: number }[];
  /** The number of open drafts without an edit or an approval. Publishing can update them. */
  open_untouched: number;
};

/** `drafts`: the number of open drafts that got the new text. */
export type TemplatePublished = { template: TemplateDetails; drafts: number };

export type TemplatePreview = {
  /** The user that the preview is rendered for; a sample user if none was passed. */
  external_user_id: string;
  is_sample: boolean;
  /** The event it is rendered with. */
  event: string;
  subject: string;
  preheader: string;
  text: string;
  /** The required variables without a value; a draft would be held. */
  missing: string[];
  /** The variables of the user whose value at the time `at` is not certain. */
  uncertain: string[];
  faults: DocumentFault[];
  variables: TemplateVariable[];
  checks: EmailCheck[];
  bytes: number;
  /** For `email.html`, which shows exactly this text for a limited time. */
  preview_id: string | null;
};

/** `saved_at` of the unpublished version that the caller started from. */
const Seen = Type.Union([Type.String(), Type.Null()]);
const Unpublished = Type.Optional(Type.Literal(true));

export const TEMPLATES_API = {
  /** Without `limit`: all of them. */
  'GET /projects/:project/templates': {
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    response: list<TemplateListed>(),
  },
  'GET /projects/:project/templates.csv': { query: Type.Object({ filter: FILTER }), response: raw() },
  'POST /projects/:project/templates': {
    body: Type.Object({
      name: Type.String(),
      source: EmailSourceSchema,
      follow: Type.Optional(Type.Boolean()),
    }),
    response: item<TemplatePublished>(),
  },
  'GET /projects/:project/templates/:template': { response: item<TemplateDetails>() },
  'DELETE /projects/:project/templates/:template': { response: item<{ drafts: number }>() },
  /** Saves the unpublished version. No email uses it until it is published. */
  'PUT /projects/:project/templates/:template/unpublished': {
    /**
     * `seen`: `saved_at` of the unpublished version that this replaces, or null if there was none. If another version was saved since, the
     * response is a conflict.
     */
    body: Type.Object({ source: EmailSourceSchema, seen: Seen }),
    response: item<TemplateDetails>(),
  },
  'DELETE /projects/:project/templates/:template/unpublished': { response: item<TemplateDetails>() },
  'POST /projects/:project/templates/:template/publish': {
    /**
     * `source`: default: the saved unpublished version. `version`: the published version that the caller edited, null for a built-in
     * template. If another version was published since, the response is a conflict. Without `version` there is no check. `seen`: `saved_at`
     * of the unpublished version that this replaces; any other one is kept. `follow`: open untouched drafts get the new text (default:
     * false).
     */
    body: Type.Object({
      source: Type.Optional(EmailSourceSchema),
      version: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      seen: Type.Optional(Seen),
      follow: Type.Optional(Type.Boolean()),
    }),
    response: item<TemplatePublished>(),
  },
  /** Renders text that need not be saved, for a user or a sample user. With `faults`, nothing is rendered. */
  'POST /projects/:project/templates/:template/preview': {
    /**
     * `source`: default: the published version, or the saved unpublished one with `unpublished`. `at`: renders with the values that the
     * user had at that time.
     */
    body: Type.Object({
      source: Type.Optional(EmailSourceSchema),
      unpublished: Unpublished,
      user: Type.Optional(Type.String()),
      at: Type.Optional(Type.String()),
    }),
    response: item<TemplatePreview>(),
  },
  'GET /projects/:project/templates/:template/email.html': {
    query: Type.Object({
      preview_id: Type.Optional(Type.String()),
      user: Type.Optional(Type.String()),
      at: Type.Optional(Type.String()),
      ...FRAME,
    }),
    response: raw(),
  },
  'POST /projects/:project/templates/:template/send-test': {
    /**
     * Rendered for a sample user. `source` and `unpublished`: as for the preview. `to`: a member of the organization or one of
     * `team_addresses`; default: the caller.
     */
    body: Type.Object({
      source: Type.Optional(EmailSourceSchema),
      unpublished: Unpublished,
      to: Type.Optional(Type.String()),
    }),
    response: item<{ to: string; subject: string; reply: string }>(),
  },
};
