export type Release = { version: string; node: string };

/** The settings of the installation that members may see. */
export type Installation = {
  publicUrl: string;
  /** The relay without its password. Null: emails go to the test inbox. */
  relay: string | null;
  mailFrom: string | null;
  /** AI drafting is available to projects. */
  hasModel: boolean;
};
