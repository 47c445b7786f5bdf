// A trained operator as everything behind the model file sees it, whichever engine computes: physical fields in,
// physical fields out. The runtime's Operator is one by OperatorPredictor; models of LibTorch are others.
#pragma once

#include <span>

#include "runtime/operator.h"

namespace lano {

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual Task task() const = 0;
  // Answers all queries; autoregressive models give the next state. Queries may share nothing but the kind of data.
  virtual void apply(std::span<const Operator::Query> queries) = 0;
  // Another number of agents than in training; returns the number used. Fails where the model has none to choose.
  virtual std::int64_t use_agents(std::int64_t agents) = 0;
};

class OperatorPredictor : public Predictor {
 public:
  explicit OperatorPredictor(Operator op) : op_(std::move(op)) {}
  Task task() const override { return op_.task(); }
  void apply(std::span<const Operator::Query> queries) override { op_.predict(queries); }
  std::int64_t use_agents(std::int64_t agents) override { return op_.use_agents(agents); }

 private:
  Operator op_;
};

}  // namespace lano
