//! evosafe-search
