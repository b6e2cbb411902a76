/** Sends emails about an account to its member, such as an invitation, from this installation. */
export type AccountEmails = {
  /** False if there is a relay but no `MAIL_FROM`: these emails have no sender then. */
  isAvailable: boolean;
  /** Returns false if the email was not accepted. A caller shows the link instead, so this is no reason to fail. */
  send: (email: AccountEmail) => Promise<boolean>;
};

/** An email is filed under a project, where the test inbox lists it. */
export type AccountEmail = { projectId: number; to: string; letter: { subject: string; text: string } };
