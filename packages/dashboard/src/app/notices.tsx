import { Notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';

/** The place of notifications: at the bottom, away from the content. */
export default function Notices(): ReactNode {
  return <Notifications position="bottom-right" />;
}
