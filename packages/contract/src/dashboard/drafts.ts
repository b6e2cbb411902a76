import type {
  BulkActed,
  BulkInput,
  BulkPreview,
  DraftContent,
  DraftContext,
  DraftCounts,
  DraftListed,
  DraftMoved,
  DraftPreview,
  DraftSeen,
  DraftVersions,
  DraftWhole,
  RuleEdits,
} from './draft-shapes.ts';
import type { ListResponse, ItemResponse, PageQuery, Raw } from './envelope.ts';

export type * from './draft-shapes.ts';

export type DraftsApi = {
  /**
   * `view=review`: drafts that wait for review, by deadline, those without one last; then held drafts, then postponed ones. `view=all`:
   * every draft, newest first. Filter: `state rule user subject reason edited`.
   */
  'GET /projects/:project/drafts': {
    query: PageQuery & { view?: 'review' | 'all'; filter?: string };
    response: ListResponse<DraftListed>;
  };
  'GET /projects/:project/drafts/counts': { query: { filter?: string }; response: ItemResponse<DraftCounts> };
  'GET /projects/:project/drafts/:draft': { response: ItemResponse<DraftWhole> };
  'GET /projects/:project/drafts/:draft/context': { response: ItemResponse<DraftContext> };
  'GET /projects/:project/drafts/:draft/preview': { response: ItemResponse<DraftPreview> };
  'GET /projects/:project/drafts/:draft/versions': { response: ItemResponse<DraftVersions> };
  /** Only for a sandboxed frame. `images=show` fetches remote images through Beckon; otherwise they are left out. */
  'GET /projects/:project/drafts/:draft/email.html': {
    query: { scheme?: 'light' | 'dark'; images?: 'hide' | 'show' };
    response: Raw;
  };

  'POST /projects/:project/drafts/:draft/approve': {
    body: DraftSeen & { anyway?: boolean };
    response: ItemResponse<DraftMoved>;
  };
  'POST /projects/:project/drafts/:draft/skip': {
    body: DraftSeen & { reason?: string };
    response: ItemResponse<DraftMoved>;
  };
  'POST /projects/:project/drafts/:draft/postpone': {
    body: DraftSeen & { until: string; extend?: boolean };
    response: ItemResponse<DraftMoved>;
  };
  'POST /projects/:project/drafts/:draft/edit': {
    body: DraftSeen & { subject?: string; preheader?: string; body?: string };
    response: ItemResponse<DraftMoved & { content: DraftContent }>;
  };
  'POST /projects/:project/drafts/:draft/undo': { body: DraftSeen; response: ItemResponse<DraftMoved> };
  /** Opens the editor of the draft, or keeps it open. For ten minutes the draft is not sent, and no other member can change it. */
  'POST /projects/:project/drafts/:draft/open-editor': {
    body: DraftSeen;
    response: ItemResponse<DraftMoved>;
  };
  'POST /projects/:project/drafts/:draft/close-editor': {
    body: DraftSeen;
    response: ItemResponse<DraftMoved>;
  };
  /**
   * Sends a failed email again, or one with unknown delivery; the latter requires `confirm`, the typed id of the user. Returns the new
   * draft.
   */
  'POST /projects/:project/drafts/:draft/send-again': {
    body: DraftSeen & { confirm?: string };
    response: ItemResponse<DraftMoved>;
  };
  /** `to`: a member of the organization or one of `team_addresses`. Default: the caller. */
  'POST /projects/:project/drafts/:draft/send-test': {
    body: { to?: string };
    response: ItemResponse<{ to: string; subject: string; reply: string }>;
  };

  'POST /projects/:project/drafts/bulk/preview': { body: BulkInput; response: ItemResponse<BulkPreview> };
  'POST /projects/:project/drafts/bulk': { body: BulkInput; response: ItemResponse<BulkActed> };

  'GET /projects/:project/rules/:rule/edits': { response: ItemResponse<RuleEdits> };
};
