#!/usr/bin/env python3
"""Old path -> new path for every file of packages/server/src.

  python3 mapping.py [root]      writes mapping.tsv beside this file; fails on a clash or an unmapped file

How a path is found, first match wins:
  1. FILES: one file (without .ts), for everything that does not follow its folder
  2. DIRS: the longest prefix of the folder
  3. a test goes beside the file it is named after; other tests follow 1 and 2
  4. BASENAMES/WORDS rename the file by the glossary of language.md
A file of re-exports alone ("barrel") is mapped to `-`: move.py resolves its names to where they are defined and
writes one index.ts per module with the names that other modules use. All new paths are below packages/server/src,
except those that begin with `packages/`.
"""
import os, re, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph import Graph, SRC, is_test

# The declared order. A module imports from modules before it, and from platform/.
ORDER = '''workspace webhooks users ingest audiences drafts sending rendering rules outcomes processing delivery inbound
explain review templates imports profiles sandbox administration operations'''.split()

# ---- 2. folders ----------------------------------------------------------------------------------------------------
DIRS = {
    # platform
    'base': 'platform',
    'base/filter': 'platform/filter',
    'base/predicate': 'platform/predicate',
    'base/recipient-texts': 'platform/recipient-texts',
    'base/records': 'platform/records',
    'io/counter': 'platform/rate-limits',
    'io/db': 'platform/db',
    'io/migrations': 'platform/migrations',
    'io/dns': 'platform/dns',
    'io/mail': 'platform/mail',
    'io/outbound': 'platform/outbound',
    'io/threads': 'platform/threads',
    'features/turns': 'platform/locks',
    'worker': 'platform/jobs',
    'http': 'platform/http',
    'http/app': 'platform/http/static',
    'http/guide': 'platform/http/static',
    # packages/postgres, a step of its own
    'io/embedded': 'packages/postgres/src',
    'io/embedded/backup': 'packages/postgres/src/backup',
    'io/embedded/upgrade': 'packages/postgres/src/upgrade',
    # main
    'main': 'main',
    'operator': 'main/commands',
    # workspace
    'features/team': 'modules/workspace/members',
    'flows/team': 'modules/workspace/members',
    'features/tokens': 'modules/workspace/tokens',
    'features/projects': 'modules/workspace/projects',
    'features/audit': 'modules/workspace/audit',
    'features/views': 'modules/workspace/views',
    'http/dashboard': 'modules/workspace/dashboard-api',
    # webhooks
    'features/webhooks': 'modules/webhooks/deliveries',
    'features/endpoints': 'modules/webhooks/endpoints',
    'features/listeners': 'modules/webhooks/listeners',
    'flows/deliver-webhooks': 'modules/webhooks/dispatch',
    # ingest
    'features/keys': 'modules/ingest/keys',
    'features/idempotency': 'modules/ingest/idempotency',
    'features/inbox': 'modules/ingest/queue',
    'features/warnings': 'modules/ingest/warnings',
    'flows/accept': 'modules/ingest/accept',
    'http/v1': 'modules/ingest/api',
    'http/v1/events': 'modules/ingest/api/events',
    'http/v1/events-batch': 'modules/ingest/api/events-batch',
    'http/v1/events-bulk': 'modules/ingest/api/events-bulk',
    'http/v1/users': 'modules/ingest/api/users',
    'http/v1/users-bulk': 'modules/ingest/api/users-bulk',
    'http/reference': 'modules/ingest/reference',
    # users
    'features/people': 'modules/users/people',
    'features/events': 'modules/users/events',
    'features/expected': 'modules/users/catalog',
    'features/stream': 'modules/users/activity',
    # rules
    'features/rules': 'modules/rules/definitions',
    'features/sequences': 'modules/rules/runs',
    'features/decisions': 'modules/rules/decisions',
    'features/insights': 'modules/rules/insights',
    'features/enrollments': 'modules/rules/enrollment',
    # audiences
    'features/audiences': 'modules/audiences',
    # drafts
    'features/drafts': 'modules/drafts',
    # sending
    'features/sending': 'modules/sending/emails',
    'features/domains': 'modules/sending/domains',
    'flows/domains': 'modules/sending/domains',
    'features/suppressions': 'modules/sending/suppressions',
    'features/restores': 'modules/sending/restores',
    'features/test-inbox': 'modules/sending/test-inbox',
    # templates
    'features/writing': 'modules/rendering',
    'features/wording': 'modules/templates/ai-drafting',
    'flows/rendering': 'modules/rendering/pool',
    # automation
    'flows/rules': 'modules/rules/evaluation',
    'flows/enroll': 'modules/rules/enrollment',
    'flows/wording': 'modules/templates/ai-drafting',
    'flows/templates': 'modules/templates',
    'io/model': 'modules/templates/ai-drafting',
    # outcomes
    'features/outcomes': 'modules/outcomes',
    'flows/record-outcome': 'modules/outcomes/record',
    'flows/suppression-lists': 'modules/outcomes/suppression-lists',
    'base/bounce': 'modules/outcomes/bounces',
    # processing
    'flows/digest': 'modules/processing',
    # delivery
    'flows/send-drafts': 'modules/delivery',
    'flows/test-inbox': 'modules/delivery/test-inbox',
    # inbound
    'flows/choices': 'modules/inbound/preferences',
    'http/choices': 'modules/inbound/preferences',
    'flows/track': 'modules/inbound/tracking',
    'http/track': 'modules/inbound/tracking',
    'flows/receive-mail': 'modules/inbound/mail',
    'http/mail-in': 'modules/inbound/mail',
    'base/mail-in': 'modules/inbound/classification',
    'features/replies': 'modules/inbound/replies',
    # explain
    'flows/explain': 'modules/explain',
    'flows/backtest': 'modules/explain/backtest',
    # review
    'flows/review': 'modules/review',
    # imports
    'features/imports': 'modules/imports',
    'features/billing': 'modules/imports/billing',
    'flows/imports': 'modules/imports/run',
    'flows/imports/stripe': 'modules/imports/stripe',
    'io/stripe': 'modules/imports/stripe-api',
    'base/billing': 'modules/imports/billing',
    # sandbox
    'features/sandbox': 'modules/sandbox',
    'flows/sandbox': 'modules/sandbox',
    'http/sandbox': 'modules/sandbox',
    # operations
    'flows/demo': 'modules/operations/demo',
}

# ---- 1. single files -----------------------------------------------------------------------------------------------
FILES = {
    # base: by subject
    **{f'base/{n}': f'platform/time/{n}' for n in 'clock duration instant steps zone within'.split()},
    **{f'base/{n}': f'platform/text/{n}' for n in
       'byte-order canonical-json csv json-pieces json-scan list-diff locale mask'.split()},
    **{f'base/{n}': f'platform/async/{n}' for n in
       'backoff coalesce fair-queue lifecycle one-by-one write-behind recent-map'.split()},
    'base/hash': 'platform/crypto/hash', 'base/seal': 'platform/crypto/encrypt', 'base/reseal': 'platform/crypto/re-encrypt',
    'base/letter-token': 'platform/crypto/email-token',
    'base/address': 'platform/net/address', 'base/address-group': 'platform/net/address-group', 'base/loopback': 'platform/net/loopback',
    'base/fault': 'platform/fault', 'base/ids': 'platform/ids', 'base/log': 'platform/log',
    'base/crash-points': 'platform/failpoints', 'base/rate': 'platform/text/rate',
    'base/public-mailboxes': 'modules/inbound/mail/public-mailboxes',
    'base/bounce/reply': 'platform/mail/smtp-reply',
    # io/mail: reading inbound mail belongs to inbound
    'io/mail/read-inbound': 'modules/inbound/mail/reader', 'io/mail/reading-thread': 'modules/inbound/mail/reader-thread',
    'io/mail/authenticate': 'modules/inbound/mail/authenticate', 'io/mail/forward': 'modules/inbound/replies/compose-forward',
    'io/mail/made-to-be-slow': 'modules/inbound/mail/slow-mail-limits',
    'io/mail/letter': 'platform/mail/outgoing-email', 'io/mail/take-letter': 'platform/mail/receive-email',
    'io/mail/hand-over': 'platform/mail/submit', 'io/mail/slots': 'platform/mail/connection-slots', 'io/mail/line': 'platform/mail/connection',
    # time and transactions of a project
    'flows/session': 'platform/db/batch-transaction', 'flows/snapshot': 'platform/db/snapshot',
    'flows/project-time': 'platform/locks/test-clock-offset', 'flows/inline-images': 'platform/outbound/inline-images',
    'features/turns/turn': 'platform/locks/project-lock', 'features/turns/due': 'platform/locks/timers',
    'features/sending/send-turn': 'modules/sending/emails/send-lock',
    # worker: the kit stays in platform, jobs and loops go to their modules
    'worker/bell': 'platform/jobs/wake-signal', 'worker/pause': 'platform/jobs/cancellable-sleep',
    'worker/troubles': 'platform/jobs/failure-backoff', 'worker/timetable': 'platform/jobs/scheduler',
    'worker/housekeeping': 'main/housekeeping',
    'worker/digester': 'modules/processing/processor', 'worker/builder': 'modules/processing/audience-builder',
    'worker/sender': 'modules/delivery/sender', 'worker/teller': 'modules/webhooks/dispatch/dispatcher',
    'worker/importer': 'modules/imports/run/importer', 'worker/check-domains': 'modules/sending/domains/check-domains-job',
    'worker/check-tracking': 'modules/sending/domains/check-tracking-job', 'worker/clear-test-inbox': 'modules/sending/test-inbox/clear-test-inbox-job',
    'worker/forget-answers': 'modules/ingest/idempotency/forget-answers-job', 'worker/forget-decisions': 'modules/rules/decisions/forget-decisions-job',
    'worker/forget-editions': 'modules/audiences/delete-retired-job', 'worker/forget-history': 'modules/operations/retention/forget-history-job',
    'worker/forget-imports': 'modules/imports/run/forget-imports-job', 'worker/forward-replies': 'modules/inbound/replies/forward-replies-job',
    'worker/keep-partitions': 'modules/users/events/partitions-job', 'worker/prune-marks': 'modules/processing/prune-marks-job',
    'worker/reseal-secrets': 'modules/operations/re-encrypt-secrets-job', 'worker/settle-hits': 'modules/inbound/tracking/classify-hits-job',
    'worker/sweep-dues': 'modules/processing/sweep-timers-job', 'worker/tell-team': 'modules/review/team-digest-job',
    'worker/word-drafts': 'modules/templates/ai-drafting/draft-job',
    'worker/any-worker.test': 'main/any-worker.test',
    # http: what is not the kit
    'http/index': '-', 'http/server': 'main/http/server', 'http/deps': 'modules/ingest/api/deps', 'http/auth': 'modules/ingest/api/authenticate',
    'http/rate-limit': 'modules/ingest/api/rate-limit', 'http/refuse-body': 'platform/http/refuse-body',
    'http/local-shell-server': 'main/http/local-shell-server', 'http/host-certificates': 'main/http/host-certificates', 'http/watch-files.test': 'main/http/watch-files.test',
    'http/reference/html': 'platform/http/html',
    'http/metrics': 'modules/operations/metrics/metrics', 'http/health': 'modules/operations/metrics/health',
    **{f'http/metrics-{n}': f'modules/operations/metrics/{n}' for n in 'database machine process server work'.split()},
    'http/choices/page': 'modules/inbound/preferences/page',
    'http/edge': 'main/http/edge', 'http/crowd.test': 'modules/ingest/api/crowd.test',
    'http/rate-limit.test': 'modules/ingest/api/rate-limit.test', 'http/fault-catalogue.test': 'modules/ingest/api/fault-catalogue.test',
    'http/metrics-slow.test': 'modules/operations/metrics/slow.test',
    'http/tracking-hosts.test': 'modules/inbound/tracking/tracking-hosts.test',
    'http/tracking-hosts-proven.test': 'modules/inbound/tracking/tracking-hosts-proven.test',
    'http/sandbox/mount-sandbox': 'modules/sandbox/public-routes',
    'http/track/index': 'modules/inbound/tracking/routes', 'http/mail-in/index': 'modules/inbound/mail/server',
    'http/choices/mount-choices': 'modules/inbound/preferences/routes',
    # dashboard routes, module by module
    'http/dashboard/index': 'main/dashboard-routes', 'http/dashboard/deps': 'main/dashboard-deps',
    'http/dashboard/mount': 'modules/workspace/dashboard-api/mount',
    'http/dashboard/backtest-places': 'modules/explain/backtest/limits',
    'http/dashboard/feed': 'modules/users/activity/feed-routes', 'http/dashboard/feed-items': 'modules/users/activity/feed-items',
    'http/dashboard/feeds': 'modules/workspace/dashboard-api/feeds',
    'http/dashboard/data': 'modules/operations/retention/routes',
    'http/dashboard/home': 'modules/review/home-routes', 'http/dashboard/schedule': 'modules/review/schedule-routes',
    'http/dashboard/audiences': 'modules/audiences/routes', 'http/dashboard/audiences-edit': 'modules/audiences/edit-routes',
    'http/dashboard/clock': 'modules/sandbox/routes',
    'http/dashboard/device': 'modules/workspace/tokens/device-routes', 'http/dashboard/tokens': 'modules/workspace/tokens/routes',
    'http/dashboard/token-state': 'modules/workspace/tokens/token-state',
    'http/dashboard/domains': 'modules/sending/domains/routes',
    'http/dashboard/drafts': 'modules/review/routes', 'http/dashboard/drafts-bulk': 'modules/review/bulk-routes',
    'http/dashboard/drafts-letter': 'modules/review/preview-routes', 'http/dashboard/drafts-moves': 'modules/review/action-routes',
    'http/dashboard/draft-conflict': 'modules/review/draft-conflict', 'http/dashboard/draft-shown': 'modules/review/draft-view',
    'http/dashboard/email-shown': 'modules/review/emails/email-view', 'http/dashboard/emails': 'modules/review/emails/routes',
    'http/dashboard/letter-words': 'modules/review/emails/outcome-words', 'http/dashboard/replies': 'modules/review/emails/reply-routes',
    'http/dashboard/test-inbox': 'modules/review/emails/test-inbox-routes', 'http/dashboard/redact': 'modules/review/emails/redact-email',
    'http/dashboard/redact-replies.test': 'modules/review/emails/redact-replies.test',
    'http/dashboard/plain-frame': 'modules/workspace/dashboard-api/email-frame',
    'http/dashboard/enrollment-shown': 'modules/rules/enrollment/enrollment-view',
    'http/dashboard/events': 'modules/audiences/event-routes',
    'http/dashboard/import-findings': 'modules/imports/finding-routes', 'http/dashboard/import-shapes': 'modules/imports/import-shapes',
    'http/dashboard/imports': 'modules/imports/routes',
    'http/dashboard/insights': 'modules/rules/insights/routes',
    'http/dashboard/keys': 'modules/ingest/keys/routes',
    'http/dashboard/listen': 'modules/webhooks/listeners/routes',
    'http/dashboard/operator': 'modules/workspace/members/require-operator', 'http/dashboard/own-address': 'modules/workspace/members/own-address',
    'http/dashboard/organizations': 'modules/workspace/members/organization-routes',
    **{f'http/dashboard/team-{n}': f'modules/workspace/members/{n}-routes' for n in 'factors links members profile session'.split()},
    'http/dashboard/team-audit': 'modules/workspace/audit/routes', 'http/dashboard/audit-text': 'modules/workspace/audit/audit-text',
    'http/dashboard/team-caller': 'modules/workspace/members/caller', 'http/dashboard/team-notices': 'modules/workspace/members/notices',
    'http/dashboard/audience-test': 'modules/processing/test-audience-routes', 'http/dashboard/set-up': 'modules/administration/set-up-routes',
    'http/dashboard/installation': 'modules/workspace/projects/installation',
    'http/dashboard/projects': 'modules/administration/project-routes', 'http/dashboard/settings': 'modules/administration/setting-routes',
    'http/dashboard/settings-pause': 'modules/administration/pause-routes',
    'http/dashboard/people': 'modules/profiles/routes', 'http/dashboard/people-one': 'modules/profiles/user-routes',
    'http/dashboard/people-views': 'modules/profiles/view-routes',
    'http/dashboard/requests': 'modules/ingest/api/request-routes',
    'http/dashboard/rules': 'modules/rules/routes', 'http/dashboard/rules-act': 'modules/rules/action-routes',
    'http/dashboard/rules-backtest': 'modules/explain/backtest/routes', 'http/dashboard/rules-enroll': 'modules/rules/enrollment/routes',
    'http/dashboard/rules-read': 'modules/rules/read-routes', 'http/dashboard/rule-shown': 'modules/rules/rule-view',
    'http/dashboard/sequences': 'modules/rules/sequence-routes',
    'http/dashboard/suppressions': 'modules/outcomes/suppressions/routes', 'http/dashboard/suppression-check': 'modules/explain/suppression-check-routes',
    'http/dashboard/suppression-shown': 'modules/outcomes/suppressions/suppression-view',
    'http/dashboard/system': 'modules/operations/system-routes',
    'http/dashboard/templates': 'modules/templates/routes', 'http/dashboard/template-shown': 'modules/templates/template-view',
    'http/dashboard/template-text': 'modules/templates/template-text',
    'http/dashboard/webhooks': 'modules/webhooks/endpoints/routes', 'http/dashboard/webhook-deliveries': 'modules/webhooks/deliveries/routes',
    # index files with code of their own
    'flows/accept/index': 'modules/ingest/accept/accept', 'flows/backtest/index': 'modules/explain/backtest/backtest',
    'flows/deliver-webhooks/index': 'modules/webhooks/dispatch/dispatch', 'flows/digest/index': 'modules/processing/process',
    'flows/explain/index': 'modules/explain/explain', 'flows/send-drafts/index': 'modules/delivery/send-due-drafts',
    'http/reference/index': 'modules/ingest/reference/routes', 'http/v1/index': 'modules/ingest/api/endpoints',
    'io/migrations/index': 'platform/migrations/migrations', 'operator/index': 'main/commands/commands',
    # sunk to the only module that uses them
    'features/domains/reseal-keys': 'modules/sending/domains/re-encrypt-keys',
    'features/drafts/after-restore': 'modules/operations/restore/drafts-after-restore',
    'features/drafts/contenders': 'modules/delivery/contenders', 'features/drafts/queue': 'modules/explain/send-queue',
    'features/drafts/review': 'modules/review/review', 'features/drafts/edit-memory': 'modules/review/edit-memory',
    'features/drafts/postpone-draft': 'modules/review/postpone-draft', 'features/drafts/approve-draft': 'modules/review/approve-draft',
    'features/drafts/reword-draft': 'modules/templates/ai-drafting/reword-draft',
    'flows/test-inbox/clear-test-inbox': 'modules/review/emails/clear-test-inbox', 'flows/test-inbox/show-mail': 'modules/review/emails/show-test-email',
    'flows/test-inbox/check-letter': 'modules/review/emails/check-email',
    'features/sending/compare': 'modules/administration/compare-policies', 'flows/simulate-policy': 'modules/administration/simulate-policy',
    'features/sending/headers': 'modules/delivery/headers', 'features/sending/pace': 'modules/delivery/sending-rate',
    'features/inbox/accept-imported': 'modules/imports/accept-imported', 'features/inbox/list-dead': 'modules/ingest/queue/list-dead-letters',
    'features/inbox/retry-dead': 'modules/ingest/queue/retry-dead-letters', 'features/inbox/accept-own': 'modules/outcomes/accept-own-event',
    'features/insights/oldest': 'modules/operations/retention/oldest', 'features/insights/days': 'modules/review/days',
    'features/outcomes/add-hits': 'modules/inbound/tracking/add-hits', 'features/outcomes/admit': 'modules/inbound/tracking/admit',
    'features/outcomes/settle-letter': 'modules/inbound/tracking/classify-email-hits',
    'base/bounce/classify-report': 'modules/inbound/classification/classify-report',
    'features/projects/create-project': 'modules/administration/insert-project', 'features/projects/rate-limits': 'modules/administration/rate-limits',
    'features/projects/suspend-project': 'modules/administration/suspend', 'features/projects/teammates': 'modules/review/teammates',
    'features/rules/shipped': 'modules/rules/definitions/shipped', 'features/rules/list-demoted': 'modules/review/list-demoted-rules',
    'features/suppressions/erased': 'modules/outcomes/suppressions/erased',
    'features/events/known': 'modules/imports/known-events', 'features/events/list-received': 'modules/explain/list-received',
    'features/people/forget-written': 'modules/processing/forget-written',
    'features/people/list-filtered': 'modules/profiles/list-filtered', 'features/people/list-traces': 'modules/profiles/list-traces',
    'features/people/people-filter': 'modules/profiles/user-filter', 'features/people/timeline': 'modules/profiles/merge-timeline',
    'features/outcomes/list-of-person': 'modules/profiles/outcomes-of-user', 'features/webhooks/list-of-person': 'modules/profiles/webhooks-of-user',
    'features/events/catalogue': 'modules/audiences/event-catalog', 'features/events/count-stored': 'modules/audiences/count-stored',
    'features/expected/drift': 'modules/audiences/event-drift', 'features/people/trait-names': 'modules/audiences/trait-names',
    'features/drafts/needs': 'modules/review/needs', 'features/events/find-largest': 'modules/rules/largest-events',
    'features/events/questions': 'modules/audiences/event-questions', 'features/events/then': 'modules/explain/events-then',
    'features/suppressions/topics': 'modules/outcomes/suppressions/topics', 'features/outcomes/hit-reads': 'modules/inbound/tracking/hit-reads',
    # loose flows
    'flows/ask-held-again': 'modules/drafts/recheck-held', 'flows/audience-names': 'modules/audiences/audience-names',
    'flows/autopilot': 'modules/rules/definitions/autopilot', 'flows/change-mode': 'modules/sending/drafts/change-mode',
    'flows/open-drafts': 'modules/sending/drafts/open-drafts', 'flows/write-moves': 'modules/sending/drafts/write-moves',
    'flows/check-definition': 'modules/audiences/check-definition', 'flows/create-audience': 'modules/audiences/create',
    'flows/edit-audience': 'modules/audiences/edit', 'flows/delete-audience': 'modules/audiences/delete',
    'flows/rebuild-audiences': 'modules/audiences/rebuild', 'flows/uses': 'modules/audiences/uses',
    'flows/check-rule': 'modules/rules/check-rule', 'flows/check-unsaved-rule': 'modules/rules/check-unsaved-rule',
    'flows/clean-edit': 'modules/review/clean-edit', 'flows/confirm-restore': 'modules/operations/restore/confirm-restore',
    'flows/restore-guard': 'modules/sending/restores/restore-guard',
    'flows/create-key': 'modules/ingest/keys/create', 'flows/revoke-key': 'modules/ingest/keys/revoke',
    'flows/create-project': 'modules/administration/create-project', 'flows/create-rule': 'modules/rules/create-rule',
    'flows/team/set-up': 'modules/administration/set-up',
    'flows/depth-readings': 'modules/operations/metrics/depth-readings', 'flows/measure-depths': 'modules/operations/metrics/measure-depths',
    'flows/edit-rule': 'modules/rules/edit-rule', 'flows/manage-rules': 'modules/rules/manage-rules',
    'flows/move-waiting': 'modules/rules/move-waiting', 'flows/switch-rule': 'modules/rules/switch-rule',
    'flows/show-rules': 'modules/rules/show-rules', 'flows/show-sequences': 'modules/rules/show-sequences',
    'flows/rule-results': 'modules/rules/rule-results', 'flows/rules-in-force': 'modules/rules/runs/rules-in-force',
    'flows/letter-names': 'modules/rules/runs/email-names', 'flows/models': 'modules/rules/project-model',
    'flows/next-due': 'modules/rules/next-timer', 'flows/facts': 'modules/audiences/facts',
    'flows/erase-person': 'modules/profiles/erase-user', 'flows/export-person': 'modules/profiles/export-user',
    'flows/list-users': 'modules/profiles/list-users', 'flows/person-letters': 'modules/explain/user-emails',
    'flows/person-then': 'modules/users/people/person-then', 'flows/person-timeline': 'modules/profiles/timeline',
    'flows/show-person': 'modules/explain/show-person', 'flows/show-person-then': 'modules/profiles/show-person-then',
    'flows/show-user': 'modules/profiles/show-user', 'flows/suppress-people': 'modules/profiles/suppress-users',
    'flows/suppress': 'modules/outcomes/suppressions/suppress', 'flows/match-hashes': 'modules/outcomes/suppressions/match-hashes',
    'flows/erased-suppressions': 'modules/outcomes/suppressions/erased-suppressions',
    'flows/would-be-mailed': 'modules/explain/can-receive-email',
    'flows/forget-history': 'modules/operations/retention/forget-history', 'flows/forward-replies': 'modules/inbound/replies/forward-replies',
    'flows/look-for-work': 'modules/processing/look-for-work', 'flows/prune-marks': 'modules/processing/prune-marks',
    'flows/sweep-dues': 'modules/processing/sweep-timers',
    'flows/move-draft': 'modules/review/move-draft', 'flows/move-drafts': 'modules/review/move-drafts',
    'flows/send-test': 'modules/review/send-test', 'flows/templates/trial-copy': 'modules/templates/send-test-copy',
    **{f'features/writing/{n}': f'modules/templates/{n}' for n in 'templates drafts store reads fill-rates parse-template blocks'.split()},
    'features/writing/unpublished': 'modules/templates/unpublished',
    **{f'features/wording/{n}': f'modules/drafts/ai-drafting/{n}' for n in ['store']}, 'features/wording/wording': 'modules/drafts/ai-drafting/attempts',
    'features/wording/told-facts': 'modules/templates/ai-drafting/facts',
    'flows/show-draft': 'modules/review/show-draft', 'flows/show-letter': 'modules/review/emails/show-email',
    'flows/show-home': 'modules/review/show-home', 'flows/show-schedule': 'modules/review/show-schedule',
    'flows/waiting-queue': 'modules/explain/waiting-queue', 
    'flows/forecast': 'modules/explain/send-forecast', 'flows/shown-outcome': 'modules/outcomes/outcome-view',
    'flows/show-insights': 'modules/rules/insights/show-insights', 'flows/show-sending': 'modules/delivery/show-sending',
    'flows/show-system': 'modules/operations/show-system', 'flows/support-bundle': 'modules/operations/support-bundle',
    'flows/re-encrypt-secrets': 'modules/operations/re-encrypt-secrets',
    'flows/pause-project': 'modules/administration/pause-project', 'flows/suspend-project': 'modules/administration/suspend-project',
    'flows/set-settings': 'modules/administration/set-settings', 'flows/sandbox/switch-sandbox': 'modules/administration/switch-sandbox',
    'flows/replay-webhooks': 'modules/webhooks/deliveries/replay', 'flows/shown-webhooks': 'modules/webhooks/deliveries/views',
    'flows/webhook-endpoints': 'modules/webhooks/endpoints/edit-endpoint',
    'flows/change-endpoints-at-once.test': 'modules/webhooks/endpoints/change-at-once.test', 'flows/erase-while-telling.test': 'modules/profiles/erase-while-dispatching.test',
    'flows/rule-flows.test': 'modules/rules/rule-use-cases.test', 'flows/standby.test': 'modules/delivery/standby.test',
    'flows/tell-endpoints.test': 'modules/webhooks/dispatch/dispatch.test',
    'flows/tell-team': 'modules/review/send-team-digest', 'flows/team-mail': 'modules/delivery/team-email',
}

# ---- 4. words of file names ----------------------------------------------------------------------------------------
WORDS = {'letter': 'email', 'letters': 'emails', 'shown': 'view', 'wording': 'ai-drafting', 'choices': 'preferences',
         'reseal': 're-encrypt', 'veil': 'redact', 'turn': 'lock', 'turns': 'locks', 'dues': 'timers', 'due': 'timer',
         'desk': 'evaluation', 'catalogue': 'catalog', 'colour': 'color', 'digester': 'processor', 'digest': 'processing',
         'crash': 'fail', 'outbox': 'test-inbox', 'edition': 'version', 'editions': 'versions', 'inbox': 'queue'}
KEEP = {'test-inbox', 'clear-test-inbox', 'clear-test-inbox-job', 'test-inbox-routes', 'team-digest', 'team-digest-job', 'send-team-digest'}


def rename(base):
    stem, dot, rest = base.partition('.')
    if stem in KEEP:
        return base
    return '-'.join(WORDS.get(w, w) for w in stem.split('-')) + dot + rest


def folder(d):
    best = max((k for k in DIRS if d == k or d.startswith(k + '/')), key=len, default=None)
    return None if best is None else DIRS[best] + d[len(best):]


def place(f, known, barrel):
    rel = f[len(SRC) + 1:]
    stem = re.sub(r'\.tsx?$', '', rel)
    if stem in FILES:
        new = FILES[stem]
        return new if new == '-' else new + rel[len(stem):]
    if '/' not in rel or rel.startswith(('modules/', 'platform/')):
        return rel
    if is_test(rel):
        sibling = re.sub(r'\.test\.ts$', '', rel)
        if sibling in FILES and FILES[sibling] != '-' and f'{SRC}/{sibling}.ts' in known:
            return FILES[sibling] + '.test.ts'
    if barrel(f) and rel != 'platform/postgres/index.ts':
        return '-'
    d, base = os.path.split(rel)
    to = folder(d)
    return None if to is None else f'{to}/{rename(base)}'

# ---- 5. names that say nothing today: the file's folder stays as found above, its name changes --------------------
NAMES = {
    'base/bounce/gone': 'unknown-recipient-phrases', 'base/bounce/abroad': 'foreign-phrases',
    'base/bounce/broken': 'server-fault-phrases', 'base/bounce/unwanted': 'refusal-phrases', 'base/bounce/mailbox': 'mailbox-phrases',
    'io/outbound/shown': 'printable-text', 'io/mail/kept-lines': 'idle-connections', 'io/counter/asker': 'token-requester',
    'io/counter/shelf': 'token-cache', 'http/mail-in/door': 'connection-limits', 'flows/deliver-webhooks/flight': 'requests-in-flight',
    'flows/deliver-webhooks/share-out': 'share-quota', 'flows/send-drafts/freeze': 'compose-email', 'flows/send-drafts/ask-gates': 'send-checks',
    'flows/send-drafts/keep-inside': 'test-inbox-transport', 'flows/send-drafts/heed-refusals': 'apply-refusals',
    'flows/send-drafts/hand-over': 'submit-emails', 'flows/send-drafts/relay-words': 'relay-notices', 'flows/send-drafts/sender-of': 'find-sender',
    'flows/record-outcome/concerned': 'new-outcomes', 'features/sequences/inside': 'count-by-step', 'features/audiences/current': 'current-versions',
    'features/audiences/names-asked': 'counted-event-names', 'features/audiences/judge': 'evaluate-membership',
    'features/audiences/standings': 'memberships', 'features/people/then': 'past-traits', 'flows/person-then': 'past-person',
    'flows/show-person-then': 'show-past-person', 'flows/rules/desk': 'context', 'flows/rules/happened': 'trigger-events',
    'flows/rules/gather': 'gather-facts', 'flows/rules/under-way': 'active-runs', 'flows/rules/compose': 'create-drafts',
    'flows/explain/suppose': 'one-fewer-event', 'flows/explain/words': 'reason-sentences', 'flows/review/open-case': 'load-draft-case',
    'flows/backtest/collide': 'cap-collisions', 'flows/backtest/rehearse': 'replay-range', 'flows/backtest/play': 'replay-rule',
    'features/sending/ordered': 'binary-heap', 'features/sending/frozen': 'pack-mime', 'features/rules/about': 'subject-of-rule',
    'features/rules/moment': 'timed-triggers', 'main/told-secrets': 'environment-secrets', 'main/way-out': 'open-transport',
    'main/last-words': 'crash-report', 'features/outcomes/admit': 'admit-hits', 'features/imports/whose-row': 'row-owner',
    'features/imports/blank-parts': 'blank-rows', 'flows/imports/some-people': 'bounded-user-list', 'flows/imports/compare': 'count-changes',
    'flows/digest/bury': 'dead-letter', 'flows/digest/fold': 'apply-records', 'flows/digest/digested': 'batch-result', 'flows/digest/due': 'process-timers',
    'flows/digest/build': 'build-audience', 'flows/digest/batch': 'process-batch', 'flows/digest/members': 'evaluate-audiences',
    'flows/domains/view': 'domain-view', 'flows/domains/shown-domain': 'domain-summary', 'features/domains/settle': 'apply-findings',
    'flows/sandbox/settle': 'run-due-work', 'features/domains/judge': 'check-records', 'features/domains/judge-spf': 'check-spf',
    'features/domains/judge-dkim': 'check-dkim-record', 'features/domains/judge-dmarc': 'check-dmarc', 'io/embedded/elsewhere': 'helper-account-folder',
    'io/embedded/find-kept': 'find-kept-clusters', 'io/embedded/sweep-drafts': 'sweep-partials', 'io/embedded/backup/drafts': 'partials',
    'io/embedded/backup/restore-drafts': 'restore-partials', 'http/dashboard/send-pieces': 'stream-file',
    'http/track/probe': 'probe-route', 'base/mail-in/verdict': 'classification', 'features/drafts/refuse': 'refusals',
    'features/outcomes/hit': 'hit', 'features/writing/printed': 'print-values', 'features/writing/reading': 'check-source',
    'features/sending/message-end': 'email-end', 'features/sending/messages': 'email-rows', 'features/sending/letters': 'list-emails',
    'features/sending/message-anywhere': 'find-email-anywhere', 'features/webhooks/follow-messages': 'follow-deliveries',
    'features/team/letters': 'member-emails', 'flows/receive-mail/claim': 'match-email',
    'features/drafts/moves': 'transitions', 'flows/write-moves': 'write-transitions', 'flows/imports/manage': 'manage-imports',
    'features/inbox/take': 'take-chunks', 'features/inbox/dead': 'dead-letters', 'features/sequences/advance': 'advance-run',
    'features/audiences/growth': 'growth-by-day',
}


def named(rel, new):
    """The name of NAMES, for the file itself and for the test that is called after it."""
    stem = re.sub(r'(\.test)?\.ts$', '', rel)
    if NAMES.get(stem) and new != '-':
        d, base = os.path.split(new)
        return f"{d}/{NAMES[stem]}{'.test' if rel.endswith('.test.ts') else ''}.ts"
    return new



def mapping(g):
    known, out = g.known, {}
    for f in g.src:
        new = place(f, known, g.barrel)
        if new is None:
            out[f] = None
        else:
            new = named(f[len(SRC) + 1:], new)
            out[f] = '-' if new == '-' else new if new.startswith('packages/') else f'{SRC}/{new}'
    return out


def main():
    g = Graph(sys.argv[1] if len(sys.argv) > 1 else '.')
    m = mapping(g)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, 'mapping.tsv'), 'w') as o:
        for f in sorted(m):
            o.write(f'{f}\t{m[f]}\n')
    seen, bad = {}, 0
    for f, n in m.items():
        if n is None:
            print('UNMAPPED', f); bad += 1
        elif n != '-':
            if n in seen:
                print('CLASH', n, '\n   ', seen[n], '\n   ', f); bad += 1
            seen[n] = f
    stale = [k for k in FILES if not any(f'{SRC}/{k}{e}' in g.known for e in ('.ts', '.tsx', ''))]
    print('files', len(m), 'barrels dissolved', sum(n == '-' for n in m.values()), 'problems', bad, 'rules without a file', stale)
    if bad:
        sys.exit(1)


if __name__ == '__main__':
    main()
