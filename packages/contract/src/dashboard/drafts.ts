import Type from 'typebox';
import { BulkInputSchema, SEEN } from './draft-shapes.ts';
import type {
  BulkActed,
  BulkPreview,
  DecidedDraft,
  DraftContent,
  DraftContext,
  DraftCounts,
  DraftListed,
  DraftMoved,
  DraftPreview,
  DraftVersions,
  DraftWhole,
  ReviewTally,
  RuleEdits,
} from './draft-shapes.ts';
import { FILTER, FRAME, PAGE, item, list, oneOf, raw } from './envelope.ts';

export type * from './draft-shapes.ts';

const Text = Type.Optional(Type.String({ maxLength: 200_000 }));

export const DRAFTS_API = {
  /**
   * `view=review`: drafts that wait for review, by deadline, those without one last; then held drafts, then postponed ones. `view=all`:
   * every draft, newest first. Filter: `state rule user subject reason edited`.
   */
  'GET /projects/:project/drafts': {
    query: Type.Object({
      ...PAGE,
      view: Type.Optional(oneOf(['review', 'all'])),
      filter: FILTER,
    }),
    response: list<DraftListed>(),
  },
  /** The list with the same view and filter. */
  'GET /projects/:project/drafts.csv': {
    query: Type.Object({ view: Type.Optional(oneOf(['review', 'all'])), filter: FILTER }),
    response: raw(),
  },
  'GET /projects/:project/drafts/counts': {
    query: Type.Object({ filter: FILTER }),
    response: item<DraftCounts>(),
  },
  /** What members decided, newest first. Filter: `action by rule user subject state at`. */
  'GET /projects/:project/review/decided': {
    query: Type.Object({ ...PAGE, filter: FILTER }),
    response: list<DecidedDraft>(),
  },
  'GET /projects/:project/review/decided.csv': {
    query: Type.Object({ filter: FILTER }),
    response: raw(),
  },
  /** What members decided today. */
  'GET /projects/:project/review/today': { response: item<ReviewTally>() },
  'GET /projects/:project/drafts/:draft': { response: item<DraftWhole>() },
  'GET /projects/:project/drafts/:draft/context': { response: item<DraftContext>() },
  'GET /projects/:project/drafts/:draft/preview': { response: item<DraftPreview>() },
  'GET /projects/:project/drafts/:draft/versions': { response: item<DraftVersions>() },
  /** Only for a sandboxed frame. `images=show` fetches remote images through Beckon; otherwise they are left out. */
  'GET /projects/:project/drafts/:draft/email.html': {
    query: Type.Object(FRAME),
    response: raw(),
  },

  'POST /projects/:project/drafts/:draft/approve': {
    body: Type.Object({ ...SEEN, anyway: Type.Optional(Type.Boolean()) }),
    response: item<DraftMoved>(),
  },
  'POST /projects/:project/drafts/:draft/skip': {
    body: Type.Object({ ...SEEN, reason: Type.Optional(Type.String({ maxLength: 500 })) }),
    response: item<DraftMoved>(),
  },
  'POST /projects/:project/drafts/:draft/postpone': {
    body: Type.Object({
      ...SEEN,
      until: Type.String({ maxLength: 40 }),
      extend: Type.Optional(Type.Boolean()),
    }),
    response: item<DraftMoved>(),
  },
  'POST /projects/:project/drafts/:draft/edit': {
    body: Type.Object({ ...SEEN, subject: Text, preheader: Text, body: Text }),
    response: item<DraftMoved & { content: DraftContent }>(),
  },
  'POST /projects/:project/drafts/:draft/undo': { body: Type.Object(SEEN), response: item<DraftMoved>() },
  /** Opens the editor of the draft, or keeps it open. For ten minutes the draft is not sent, and no other member can change it. */
  'POST /projects/:project/drafts/:draft/open-editor': {
    body: Type.Object(SEEN),
    response: item<DraftMoved>(),
  },
  'POST /projects/:project/drafts/:draft/close-editor': {
    body: Type.Object(SEEN),
    response: item<DraftMoved>(),
  },
  /**
   * Sends a failed email again, or one with unknown delivery; the latter requires `confirm`, the typed id of the user. Returns the new
   * draft.
   */
  'POST /projects/:project/drafts/:draft/send-again': {
    body: Type.Object({ ...SEEN, confirm: Type.Optional(Type.String({ maxLength: 1_000 })) }),
    response: item<DraftMoved>(),
  },
  /** `to`: a member of the organization or one of `team_addresses`. Default: the caller. */
  'POST /projects/:project/drafts/:draft/send-test': {
    body: Type.Object({ to: Type.Optional(Type.String({ maxLength: 320 })) }),
    response: item<{ to: string; subject: string; reply: string }>(),
  },

  'POST /projects/:project/drafts/bulk/preview': { body: BulkInputSchema, response: item<BulkPreview>() },
  'POST /projects/:project/drafts/bulk': { body: BulkInputSchema, response: item<BulkActed>() },

  'GET /projects/:project/rules/:rule/edits': { response: item<RuleEdits>() },
};
