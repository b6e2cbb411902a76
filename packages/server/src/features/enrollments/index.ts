export { afterBatch, type CancelReason, type Enrollment } from './enrollment.ts';
export {
  cancelEnrollment,
  findDueEnrollment,
  findLatestEnrollment,
  findRunningEnrollment,
  insertEnrollment,
  leaveEnrollments,
  nextEnrollmentAt,
  updateEnrollment,
} from './store.ts';
