import { allows, type HomeCounts, type Role } from '@beckon/contract/dashboard';
import type { LucideIcon } from 'lucide-react';

/** A page that the sidebar, a tab bar or the command menu leads to. */
export type NavPage = {
  to: NavPath;
  label: string;
  /** Its name where it stands without its tab bar, if that differs. */
  title?: string;
  icon: LucideIcon;
  /** The second key of the shortcut, after `g`. */
  key?: string;
  badge?: keyof HomeCounts;
  /** Other names that a member may search for. */
  words?: string;
  needs?: Role;
};
/** An entry of the sidebar. An entry with tabs opens the one that has its own path. */
export type NavItem = NavPage & {
  tabs?: NavPage[];
  /** The first segment of paths that belong to this entry and are not below its own path. */
  details?: string;
};
export type NavGroup = { title: string | null; items: NavItem[] };

export type NavPath = `/p/$project/${
  | 'home'
  | 'review'
  | 'rules'
  | 'templates'
  | 'audiences'
  | 'users'
  | 'suppressions'
  | 'imports'
  | 'replies'
  | 'schedule'
  | 'emails'
  | 'test-inbox'
  | 'insights'
  | 'activity'
  | 'requests'
  | 'dead-letters'
  | 'events'
  | 'webhooks'
  | `settings/${
      | 'sender'
      | 'domains'
      | 'relays'
      | 'reply-source'
      | 'sending-policy'
      | 'data'
      | 'audit'
      | 'api-keys'
      | 'sandbox'
      | 'team'
      | 'system'}`}`;

export function nameOf({ title, label }: NavPage): string {
  return title ?? label;
}

/** Whether a role may open a page that needs another one. */
export function mayOpen(role: Role, needs: Role | undefined): boolean {
  return needs === undefined || allows(role, needs);
}
