import { Button, Text } from '@mantine/core';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { Need } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useProject } from '../../api/index.ts';
import { When } from '../../parts/index.ts';
import classes from './home.module.css';
import { type NeedText, type NeedTarget, needWords } from './need-words.ts';

const ICONS = { bad: CircleAlert, warn: TriangleAlert, info: Info };
const TONES = { bad: 'Urgent', warn: 'Needs attention', info: 'Soon' };

/** The problems that need attention, the most urgent first. */
export function Needs({ needs }: { needs: Need[] }): ReactNode {
  if (needs.length === 0)
    return (
      <div className={classes.needs}>
        <div className={classes.need}>
          <div className={classes.what}>
            <CircleCheck size={18} aria-hidden="true" className={classes.info} />
            <Text size="sm">No issues need attention.</Text>
          </div>
        </div>
      </div>
    );
  return (
    <ul className={classes.needs}>
      {needs.map(needWords).map((text) => (
        <NeedRow key={text.key} text={text} />
      ))}
    </ul>
  );
}

function NeedRow({ text: { tone, title, detail, at, to, action } }: { text: NeedText }): ReactNode {
  const project = String(useProject().id);
  const Icon = ICONS[tone];
  return (
    <li className={classes.need}>
      <div className={classes.what}>
        <Icon size={18} aria-label={TONES[tone]} role="img" className={classes[tone]} />
        <div>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Text size="sm" c="dimmed">
            {detail}
            {at !== null && (
              <>
                {' '}
                (<When at={at} />)
              </>
            )}
          </Text>
        </div>
      </div>
      <Button
        size="compact-sm"
        variant="default"
        renderRoot={(props) => <Link {...linkOf(to, project)} {...props} />}
      >
        {action}
      </Button>
    </li>
  );
}

function linkOf(to: NeedTarget, project: string): LinkProps {
  switch (to.page) {
    case 'review':
      return {
        to: '/p/$project/review',
        params: { project },
        search: { draft: to.draft, filter: to.filter },
      };
    case 'emails':
      return { to: '/p/$project/emails', params: { project }, search: { filter: to.filter } };
    case 'relay':
      return { to: '/p/$project/settings/relays/$relay', params: { project, relay: to.id } };
    case 'endpoint':
      return { to: '/p/$project/webhooks/$endpoint', params: { project, endpoint: to.id } };
    case 'rule':
      return { to: '/p/$project/rules/$rule', params: { project, rule: to.id } };
    case 'settings/sending-policy':
    case 'settings/sender':
    case 'settings/domains':
    case 'settings/system':
    case 'dead-letters':
      return { to: `/p/$project/${to.page}`, params: { project } };
    default:
      return to satisfies never;
  }
}
