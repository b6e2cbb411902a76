import { Notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';

/** Where notices come up: below, and away from what is being read. */
export default function Notices(): ReactNode {
  return <Notifications position="bottom-right" />;
}
