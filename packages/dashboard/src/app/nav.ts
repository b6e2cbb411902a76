import {
  Activity,
  BarChart3,
  CalendarClock,
  CircleAlert,
  Database,
  FileText,
  FileUp,
  FlaskConical,
  Gauge,
  Globe,
  House,
  Inbox,
  KeyRound,
  MailCheck,
  MailMinus,
  MailSearch,
  MessageSquareReply,
  Network,
  Radio,
  ScrollText,
  Send,
  Settings,
  ShieldCheck,
  SlidersHorizontal,
  UserPen,
  Users,
  UsersRound,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { NavGroup, NavItem } from './nav-page.ts';

export const SETTINGS_ENTRY: NavItem = {
  to: '/p/$project/settings/sender',
  label: 'Settings',
  icon: Settings,
  key: ',',
};

/** The sidebar of a project. All entries are visible without scrolling in a window of 900 px. */
export const MAIN: NavGroup[] = [
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
        details: 'drafts',
      },
    ],
  },
  {
    title: 'Automation',
    items: [
      {
        to: '/p/$project/rules',
        label: 'Rules',
        icon: Workflow,
        key: 't',
        words: 'triggers automations sequences steps',
      },
      { to: '/p/$project/templates', label: 'Templates', icon: FileText, key: 'm', words: 'wording mjml' },
      { to: '/p/$project/audiences', label: 'Audiences', icon: UsersRound, key: 'a', words: 'segments' },
    ],
  },
  {
    title: 'People',
    items: [
      {
        to: '/p/$project/users',
        label: 'Users',
        icon: Users,
        tabs: [
          {
            to: '/p/$project/users',
            label: 'Users',
            icon: Users,
            key: 'u',
            words: 'people customers',
          },
          {
            to: '/p/$project/suppressions',
            label: 'Suppressions',
            icon: MailMinus,
            words: 'unsubscribed blocked',
          },
          {
            to: '/p/$project/imports',
            label: 'Imports',
            icon: FileUp,
            words: 'csv jsonl stripe backfill',
            needs: 'editor',
          },
        ],
      },
      {
        to: '/p/$project/replies',
        label: 'Replies',
        icon: MessageSquareReply,
        key: 'y',
        words: 'answers thread',
      },
    ],
  },
  {
    title: 'Sending',
    items: [
      {
        to: '/p/$project/emails',
        label: 'Emails',
        icon: Send,
        badge: 'failed',
        tabs: [
          {
            to: '/p/$project/schedule',
            label: 'Scheduled',
            title: 'Scheduled emails',
            icon: CalendarClock,
            key: 's',
            words: 'schedule queue planned',
          },
          {
            to: '/p/$project/emails',
            label: 'Sent',
            title: 'Sent emails',
            icon: Send,
            key: 'd',
            badge: 'failed',
            words: 'deliveries messages',
          },
          {
            to: '/p/$project/test-inbox',
            label: 'Test inbox',
            icon: Inbox,
            key: 'o',
            words: 'captured mail',
          },
        ],
      },
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
        to: '/p/$project/activity',
        label: 'Activity',
        icon: Radio,
        badge: 'dead_letters',
        tabs: [
          {
            to: '/p/$project/activity',
            label: 'Live',
            title: 'Live activity',
            icon: Radio,
            key: 'l',
            words: 'tail stream feed',
          },
          { to: '/p/$project/requests', label: 'Requests', icon: ScrollText, words: 'ingest log' },
          {
            to: '/p/$project/dead-letters',
            label: 'Dead letters',
            title: 'Dead-lettered records',
            icon: CircleAlert,
            badge: 'dead_letters',
            words: 'dead letters retry discard failed',
          },
        ],
      },
      { to: '/p/$project/events', label: 'Events', icon: Activity, key: 'e', words: 'catalog properties' },
      {
        to: '/p/$project/webhooks',
        label: 'Webhooks',
        icon: Webhook,
        key: 'w',
        words: 'endpoints',
        needs: 'admin',
      },
    ],
  },
  {
    title: null,
    items: [SETTINGS_ENTRY],
  },
];

/** The sidebar of Settings, which replaces the one of the project. */
export const SETTINGS: NavGroup[] = [
  {
    title: 'Project',
    items: [
      {
        to: '/p/$project/settings/sender',
        label: 'Sender',
        icon: UserPen,
        words: 'from reply-to footer topics forwarding',
      },
      { to: '/p/$project/settings/domains', label: 'Domains', icon: Globe, words: 'dns dkim spf dmarc' },
      {
        to: '/p/$project/settings/relays',
        label: 'Relays',
        icon: Send,
        words: 'smtp postmark ses sendgrid mailgun resend provider',
      },
      {
        to: '/p/$project/settings/reply-source',
        label: 'Reply source',
        icon: MailSearch,
        words: 'imap mailbox inbound webhook forwarding replies',
        needs: 'admin',
      },
      {
        to: '/p/$project/settings/sending-policy',
        label: 'Sending policy',
        icon: SlidersHorizontal,
        words: 'quiet hours cap throttle',
      },
      { to: '/p/$project/settings/data', label: 'Data', icon: Database, words: 'retention export erasure' },
      {
        to: '/p/$project/settings/audit',
        label: 'Audit',
        icon: ShieldCheck,
        words: 'log who',
        needs: 'admin',
      },
    ],
  },
  {
    title: 'Developers',
    items: [
      {
        to: '/p/$project/settings/api-keys',
        label: 'API keys',
        icon: KeyRound,
        key: 'k',
        words: 'secret token',
        needs: 'admin',
      },
      {
        to: '/p/$project/settings/sandbox',
        label: 'Sandbox',
        icon: FlaskConical,
        words: 'test clock test mode',
      },
    ],
  },
  {
    title: 'Organization',
    items: [{ to: '/p/$project/settings/team', label: 'Team', icon: Network, words: 'members roles invite' }],
  },
  {
    title: 'Installation',
    items: [
      {
        to: '/p/$project/settings/system',
        label: 'System',
        icon: Gauge,
        words: 'health queue workers version',
      },
    ],
  },
];
