/** Who did what. `projectId` is 0 for what concerns the team or the installation, and no project. */
export type AuditEntry = {
  projectId: number;
  /** Whose it is where it concerns no project: read there, whoever is a member by then. */
  organizationIds: string[];
  id: string;
  at: Date;
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  actor: string;
  /** As they were called then: people leave, and their entries stay. */
  actorName: string;
  /** The label of the personal token by which they did it; null: at the dashboard, or by a command. */
  token: string | null;
  /** Noun and verb, `draft.approve`. */
  action: string;
};

/** What it was about, and what it was before and after. */
export type Difference = { subject?: string; before?: unknown; after?: unknown };

export type ListedEntry = Omit<AuditEntry, 'organizationIds'> & {
  subject: string | null;
  before: unknown;
  after: unknown;
  /** False: it was begun, and nobody knows whether it came to its end. */
  isDone: boolean;
};
