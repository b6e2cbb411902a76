import type { HomeCounts } from '@beckon/contract/dashboard';
import {
  Activity,
  BarChart3,
  CalendarClock,
  Database,
  FileText,
  FileUp,
  Gauge,
  Globe,
  House,
  Inbox,
  KeyRound,
  ListOrdered,
  MailCheck,
  MailMinus,
  MessageSquareReply,
  Network,
  Radio,
  ScrollText,
  Send,
  ShieldCheck,
  SlidersHorizontal,
  type LucideIcon,
  UserPen,
  Users,
  UsersRound,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { Role } from '@beckon/contract/dashboard';

/** The screens of a project, in sidebar order. The command menu, the sidebar and the `g x` shortcuts use this list. */
export type NavItem = {
  to: NavPath;
  label: string;
  icon: LucideIcon;
  /** The second key of the shortcut, after `g`. */
  key?: string;
  badge?: keyof HomeCounts;
  /** Other names that a member may search for. */
  words?: string;
  needs?: Role;
};
export type NavGroup = { title: string | null; items: NavItem[] };

export type NavPath = `/p/$project/${
  | 'home'
  | 'review'
  | 'schedule'
  | 'live'
  | 'users'
  | 'audiences'
  | 'events'
  | 'rules'
  | 'sequences'
  | 'templates'
  | 'emails'
  | 'test-inbox'
  | 'replies'
  | 'insights'
  | 'keys'
  | 'requests'
  | 'webhooks'
  | 'imports'
  | 'system'
  | 'domains'
  | 'policy'
  | 'suppressions'
  | 'sender'
  | 'team'
  | 'audit'
  | 'data'}`;

export const NAV: NavGroup[] = [
  {
    title: null,
    items: [
      { to: '/p/$project/home', label: 'Home', icon: House, key: 'h', words: 'start overview' },
      {
        to: '/p/$project/review',
        label: 'Review',
        icon: MailCheck,
        key: 'r',
        badge: 'review',
        words: 'drafts approve',
      },
      {
        to: '/p/$project/schedule',
        label: 'Schedule',
        icon: CalendarClock,
        key: 's',
        words: 'queue planned',
      },
      { to: '/p/$project/live', label: 'Live', icon: Radio, key: 'l', words: 'tail stream feed' },
    ],
  },
  {
    title: 'People',
    items: [
      { to: '/p/$project/users', label: 'Users', icon: Users, key: 'u', words: 'people customers' },
      { to: '/p/$project/audiences', label: 'Audiences', icon: UsersRound, key: 'a', words: 'segments' },
      { to: '/p/$project/events', label: 'Events', icon: Activity, key: 'e', words: 'catalog properties' },
    ],
  },
  {
    title: 'Automation',
    items: [
      { to: '/p/$project/rules', label: 'Rules', icon: Workflow, key: 't', words: 'triggers automations' },
      { to: '/p/$project/sequences', label: 'Sequences', icon: ListOrdered, key: 'q', words: 'steps' },
      { to: '/p/$project/templates', label: 'Templates', icon: FileText, key: 'm', words: 'wording mjml' },
    ],
  },
  {
    title: 'Results',
    items: [
      {
        to: '/p/$project/emails',
        label: 'Emails',
        icon: Send,
        key: 'd',
        badge: 'failed',
        words: 'deliveries messages sent',
      },
      {
        to: '/p/$project/test-inbox',
        label: 'Test inbox',
        icon: Inbox,
        key: 'o',
        words: 'captured mail',
      },
      { to: '/p/$project/replies', label: 'Replies', icon: MessageSquareReply, words: 'answers thread' },
      {
        to: '/p/$project/insights',
        label: 'Insights',
        icon: BarChart3,
        key: 'i',
        words: 'statistics funnel',
      },
    ],
  },
  {
    title: 'Developers',
    items: [
      {
        to: '/p/$project/keys',
        label: 'API keys',
        icon: KeyRound,
        key: 'k',
        words: 'secret token',
        needs: 'admin',
      },
      { to: '/p/$project/requests', label: 'Requests', icon: ScrollText, words: 'ingest log' },
      { to: '/p/$project/webhooks', label: 'Webhooks', icon: Webhook, words: 'endpoints', needs: 'admin' },
      {
        to: '/p/$project/imports',
        label: 'Imports',
        icon: FileUp,
        words: 'csv jsonl stripe backfill',
        needs: 'editor',
      },
      {
        to: '/p/$project/system',
        label: 'System',
        icon: Gauge,
        badge: 'dead_letters',
        words: 'health queue dead letters',
      },
    ],
  },
  {
    title: 'Settings',
    items: [
      { to: '/p/$project/sender', label: 'Sender', icon: UserPen, words: 'from reply-to footer topics' },
      { to: '/p/$project/domains', label: 'Domains', icon: Globe, words: 'dns dkim spf dmarc' },
      {
        to: '/p/$project/policy',
        label: 'Sending policy',
        icon: SlidersHorizontal,
        words: 'quiet hours cap throttle',
      },
      {
        to: '/p/$project/suppressions',
        label: 'Suppressions',
        icon: MailMinus,
        words: 'unsubscribed blocked',
      },
      { to: '/p/$project/team', label: 'Team', icon: Network, words: 'members roles invite' },
      { to: '/p/$project/audit', label: 'Audit', icon: ShieldCheck, words: 'log who', needs: 'admin' },
      { to: '/p/$project/data', label: 'Data', icon: Database, words: 'retention export erasure' },
    ],
  },
];
