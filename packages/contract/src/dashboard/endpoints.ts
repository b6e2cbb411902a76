import { AUDIENCES_API } from './audiences.ts';
import { BACKTEST_API } from './backtest.ts';
import { DATA_API } from './data.ts';
import { DOMAINS_API } from './domains.ts';
import { DRAFTS_API } from './drafts.ts';
import { EMAILS_API } from './emails.ts';
import { EVENTS_API } from './events.ts';
import { FEED_API } from './feed.ts';
import { HOME_API } from './home.ts';
import { IMPORTS_API } from './imports.ts';
import { INSIGHTS_API } from './insights.ts';
import { KEYS_API } from './keys.ts';
import { LISTEN_API } from './listen.ts';
import { ORGANIZATIONS_API } from './organizations.ts';
import { PEOPLE_API } from './people.ts';
import { PROJECTS_API } from './projects.ts';
import { RELAY_FEEDBACK_API } from './relay-feedback.ts';
import { RELAYS_API } from './relays.ts';
import { REPLY_SOURCE_API } from './reply-source.ts';
import { REQUESTS_API } from './requests.ts';
import { RULES_API } from './rules.ts';
import { SANDBOX_API } from './sandbox.ts';
import { SCHEDULE_API } from './schedule.ts';
import { SEARCH_API } from './search.ts';
import { FLOW_API } from './flow.ts';
import { SETTINGS_API } from './settings.ts';
import { SUPPRESSIONS_API } from './suppressions.ts';
import { SYSTEM_API } from './system.ts';
import { TEAM_API } from './team.ts';
import { TEMPLATES_API } from './templates.ts';
import { TOKENS_API } from './tokens.ts';
import { WEBHOOKS_API } from './webhooks.ts';

export { SEARCH_TEXT_MIN_CHARS } from './search.ts';

/**
 * The endpoints of the dashboard API by `METHOD /path` below `/api/dashboard`, with the schemas of their queries and bodies. Only the server
 * imports this file, because it loads TypeBox. Programs import the types that derive from it.
 */
export const DASHBOARD_API = {
  ...AUDIENCES_API,
  ...BACKTEST_API,
  ...DATA_API,
  ...DOMAINS_API,
  ...DRAFTS_API,
  ...EMAILS_API,
  ...EVENTS_API,
  ...FEED_API,
  ...HOME_API,
  ...IMPORTS_API,
  ...INSIGHTS_API,
  ...KEYS_API,
  ...LISTEN_API,
  ...ORGANIZATIONS_API,
  ...PEOPLE_API,
  ...PROJECTS_API,
  ...RELAY_FEEDBACK_API,
  ...RELAYS_API,
  ...REPLY_SOURCE_API,
  ...REQUESTS_API,
  ...RULES_API,
  ...SANDBOX_API,
  ...SCHEDULE_API,
  ...SEARCH_API,
  ...FLOW_API,
  ...SETTINGS_API,
  ...SUPPRESSIONS_API,
  ...SYSTEM_API,
  ...TEAM_API,
  ...TEMPLATES_API,
  ...TOKENS_API,
  ...WEBHOOKS_API,
};
